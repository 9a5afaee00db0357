"""The explorable in a running kernel: widgets that redraw on every move."""

import html
import sys
import traceback
from pathlib import Path

from utils.explore import palette

__all__ = ["LiveExplorable", "mimebundle"]

HERE = str(Path(__file__).resolve().parent)
VIEW = "application/vnd.jupyter.widget-view+json"


def mimebundle(explorable):
    """A live view, if a notebook's kernel is running and can show widgets.

    Returns
    -------
    dict
        Empty outside a kernel or without ipywidgets.
    """
    if not explorable.sliders or not _in_a_kernel():
        return {}
    try:
        import ipywidgets  # noqa: F401
    except ModuleNotFoundError:
        return {}
    box = LiveExplorable(explorable).box
    return {
        VIEW: {
            "version_major": 2,
            "version_minor": 0,
            "model_id": box.model_id,
        }
    }


def _in_a_kernel():
    try:
        from IPython import get_ipython
    except ModuleNotFoundError:
        return False
    return getattr(get_ipython(), "kernel", None) is not None


class LiveExplorable:
    """Sliders, picture and sentence as one box of ipywidgets.

    The picture is replaced in place, so nothing flickers and nothing piles
    up; an error in `draw` or `say` is shown in its place, never swallowed.
    """

    def __init__(self, explorable):
        import ipywidgets as widgets

        self.explorable = explorable
        self.picture = widgets.HTML()
        self.sentence = widgets.HTML()
        self.controls = {
            slider.name: self._control(widgets, slider)
            for slider in explorable.sliders
        }
        for control in self.controls.values():
            control.observe(self._moved, names="value")
        self.box = widgets.VBox(
            [*self.controls.values(), self.picture, self.sentence]
        )
        self._redraw()

    def values(self):
        """The state the controls show."""
        return {name: item.value for name, item in self.controls.items()}

    def _control(self, widgets, slider):
        given = self.explorable.start().get(slider.given)
        common = {
            "description": slider.label,
            # labels of one width, and the slider below where there is no room
            "style": {"description_width": self._label_width()},
            "layout": {
                "width": "36em",
                "max_width": "100%",
                "height": "auto",
                "flex_flow": "row wrap",
            },
        }
        if slider.kind == "checkbox":
            return widgets.Checkbox(
                value=slider.start(given), indent=False, **common
            )
        menu = (
            widgets.SelectionSlider
            if slider.kind == "range"
            else widgets.Dropdown
        )
        return menu(
            options=_options(slider, given),
            value=slider.start(given),
            **common,
        )

    def _label_width(self):
        longest = max(len(s.label) for s in self.explorable.sliders)
        return f"{0.55 * longest + 0.5:.1f}em"

    def _moved(self, change):
        self._follow(change["owner"], change["new"])
        self._redraw()

    def _follow(self, owner, value):
        """Give the sliders that depend on this one their new values."""
        names = {id(item): name for name, item in self.controls.items()}
        for slider in self.explorable.sliders:
            if slider.given is None or slider.given != names[id(owner)]:
                continue
            item = self.controls[slider.name]
            item.unobserve(self._moved, names="value")
            item.options = _options(slider, value)
            item.value = slider.start(value)
            item.observe(self._moved, names="value")

    def _redraw(self):
        try:
            values = self.values()
            sentence = html.escape(self.explorable.sentence(**values))
            svg = self.explorable.svg(**values)
        except Exception:
            words = html.escape(_their_traceback())
            self.picture.value = f'<pre role="alert">{words}</pre>'
            self.sentence.value = ""
            return
        self.picture.value = (
            f"<style>{palette.css()}</style>"
            '<figure class="explorable" style="max-width:36em;margin:0">'
            f'<div role="img" aria-label="{sentence}">{svg}</div></figure>'
        )
        # a widget of its own: a reader hears the sentence, not the picture
        self.sentence.value = (
            '<div role="status" aria-live="polite" '
            'style="max-width:36em;line-height:1.5;margin-top:.5em">'
            f"{sentence}</div>"
        )


def _their_traceback():
    """The error in hand, from the first frame that is not this machinery."""
    error = sys.exception()
    frame = error.__traceback__
    while frame.tb_next and frame.tb_frame.f_code.co_filename.startswith(HERE):
        frame = frame.tb_next
    lines = traceback.format_exception(type(error), error, frame)
    return "".join(lines)


def _options(slider, given):
    texts = [text for _, text in slider.options(given)]
    return list(zip(texts, slider.values(given), strict=True))
