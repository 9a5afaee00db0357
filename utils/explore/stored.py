"""What an explorable leaves in a stored notebook: a picture, its sentence."""

import base64
import html

__all__ = ["mimebundle"]


def mimebundle(explorable):
    """The starting state as a picture with its sentence, readable anywhere.

    Notebook viewers drop scripts and inline SVG but keep an image with its
    alternative text. The `data-` attributes tell the page's builder which
    explorable stands here, so that it can put the moving one in its place.
    """
    state = explorable.start()
    sentence = explorable.sentence(**state)
    png = base64.b64encode(explorable.png(**state)).decode("ascii")
    words = html.escape(sentence)
    return {
        "text/plain": sentence,
        "text/html": (
            f'<figure data-explorable="{explorable.name}" '
            f'data-module="{explorable.module}">'
            f'<img alt="{words}" width="576" '
            f'src="data:image/png;base64,{png}">'
            f"<figcaption>{words}</figcaption></figure>"
        ),
    }
