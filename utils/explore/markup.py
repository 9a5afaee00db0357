"""The HTML of an explorable on the static page."""

import json
from html import escape

from utils.explore.slider import value_key

__all__ = ["figure_html"]


def figure_html(explorable, frames, script):
    """The picture, its sentence and, for a reader with JavaScript, controls.

    Parameters
    ----------
    explorable : Explorable
    frames : Frames
    script : str
        Where the page finds the flipbook, relative to the page.

    Returns
    -------
    str
    """
    name = explorable.name
    said = f"{name}--said"
    svg = frames.svg.replace(
        "<svg ", f'<svg role="img" aria-labelledby="{said}" ', 1
    )
    moves = " data-moves" if explorable.sliders else ""
    parts = [
        f'<figure class="explorable" id="{name}"{moves} '
        f'data-module="{explorable.module}">',
        f'<div class="explorable-picture">{svg}</div>',
    ]
    if explorable.sliders:
        parts += [
            f'<form class="explorable-controls" aria-label="{name}: controls"'
            ' autocomplete="off" hidden>',
            *(_control(explorable, slider) for slider in explorable.sliders),
            _buttons(),
            "</form>",
        ]
    parts.append(
        f'<figcaption id="{said}" aria-live="polite">'
        f"{escape(frames.sentence)}</figcaption>"
    )
    if explorable.sliders:
        parts.append(_config(explorable, script))
    parts.append("</figure>")
    return "\n".join(parts)


def _control(explorable, slider):
    state = explorable.start()
    given = state.get(slider.given)
    options = slider.options(given)
    place = [key for key, _ in options].index(value_key(state[slider.name]))
    label = escape(slider.label)
    box = f"{explorable.name}-{slider.name}"
    named = f'id="{box}" name="{slider.name}"'
    if slider.kind == "checkbox":
        checked = " checked" if state[slider.name] else ""
        body = (
            f'<input type="checkbox" {named}{checked}>'
            f'<label for="{box}">{label}</label>'
        )
    elif slider.kind == "select":
        rows = "".join(
            f'<option value="{escape(key)}"'
            f"{' selected' if i == place else ''}>{escape(text)}</option>"
            for i, (key, text) in enumerate(options)
        )
        body = (
            f'<label for="{box}">{label}</label>'
            f"<select {named}>{rows}</select>"
        )
    else:
        text = escape(options[place][1])
        body = (
            f'<label for="{box}">{label}</label>'
            f'<input type="range" {named} min="0" max="{len(options) - 1}" '
            f'step="1" value="{place}" aria-valuetext="{text}">'
            f'<output for="{box}">{text}</output>'
        )
    play = (
        f'<button type="button" class="explorable-play" '
        f'data-plays="{slider.name}" data-beat="{_beat(len(options))}">'
        "Play</button>"
        if slider.play
        else ""
    )
    return f'<div class="explorable-{slider.kind}">{body}{play}</div>'


def _beat(steps):
    """Milliseconds from step to step: a play takes some twelve seconds.

    >>> _beat(7), _beat(72)
    (900, 166)
    """
    return max(150, min(900, 12_000 // steps))


def _buttons():
    return (
        '<div class="explorable-buttons">'
        '<button type="button" class="explorable-reset">Reset</button>'
        '<button type="button" class="explorable-project" '
        'aria-pressed="false">Project</button>'
        '<button type="button" class="explorable-link">Copy link</button>'
        '<span class="explorable-note" role="status"></span></div>'
    )


def _config(explorable, script):
    """What the script must know before the flipbook is loaded."""
    state = explorable.start()
    config = {
        "script": script,
        "sliders": [_slider_config(slider) for slider in explorable.sliders],
        "start": {name: value_key(value) for name, value in state.items()},
    }
    text = json.dumps(config, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c")
    return f'<script type="application/json">{text}</script>'


def _slider_config(slider):
    config = {"name": slider.name, "kind": slider.kind}
    if slider.given is None:
        return {**config, "options": slider.options()}
    tables = slider.tables()
    return {
        **config,
        "given": slider.given,
        "options": {value_key(key): slider.options(key) for key in tables},
        "starts": {
            value_key(key): value_key(slider.start(key)) for key in tables
        },
    }
