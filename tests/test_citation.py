"""CITATION.cff says what pyproject.toml, LICENSE and _config.yml say.

The fields are those of the Citation File Format 1.2.0, as its schema has
them; the file was also read by `cffconvert --validate`.
"""

import datetime
import re
import tomllib

import pytest
import yaml

REQUIRED = {"authors", "cff-version", "message", "title"}
ALLOWED = REQUIRED | {
    *("abstract", "commit", "contact", "date-released", "doi"),
    *("identifiers", "keywords", "license", "license-url"),
    *("preferred-citation", "references", "repository"),
    *("repository-artifact", "repository-code", "type", "url", "version"),
}
ENTITY = {
    *("address", "alias", "city", "country", "date-end", "date-start"),
    *("email", "fax", "location", "name", "orcid", "post-code", "region"),
    *("tel", "website"),
}


@pytest.fixture
def citation(root):
    return yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))


@pytest.fixture
def project(root):
    text = (root / "pyproject.toml").read_text("utf-8")
    return tomllib.loads(text)["project"]


@pytest.fixture
def config(root):
    return yaml.safe_load((root / "_config.yml").read_text("utf-8"))


def test_it_has_the_fields_of_the_format(citation):
    assert citation["cff-version"] == "1.2.0"
    assert set(citation) >= REQUIRED
    assert set(citation) <= ALLOWED
    assert citation["type"] in ("software", "dataset")
    for name, value in citation.items():
        if name == "date-released":
            assert isinstance(value, datetime.date)
        elif name not in ("authors", "keywords"):
            assert isinstance(value, str), f"{name} must be a text"
            assert value.strip(), name


def test_its_authors_are_those_of_the_book(citation, config, root):
    (author,) = citation["authors"]
    assert set(author) <= ENTITY
    assert author["name"] == config["author"]
    for name in ("LICENSE", "LICENSE-TEXT"):
        text = (root / name).read_text("utf-8")
        holders = re.findall(r"Copyright \(c\) \d{4} (.+)", text)
        assert author["name"] in holders, name


def test_title_version_and_licence_are_the_project_s(
    citation, project, config, root
):
    assert citation["title"] == config["title"]
    slug = citation["title"].lower().replace(" ", "-")
    assert slug == project["name"]
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    first = (root / "LICENSE").read_text("utf-8").split("\n")[0]
    assert first == f"{citation['license']} License"
    news = (root / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## {re.escape(citation['version'])}\b", news, re.M)


def test_it_names_no_address_that_nobody_gave(citation, root):
    """A DOI or an address is written here by who has been given it."""
    known = {"doi", "identifiers", "repository", "repository-code", "url"}
    named = known & set(citation)
    assert not named, f"say in this test where {named} came from"
