"""What a check says of a reader's function."""

from html import escape

__all__ = ["Verdict"]


class Verdict:
    """Right or not, and why: true where the function is right.

    Parameters
    ----------
    right : bool
    headline : str
        One line; a mark is put before it.
    lines : sequence of str
        What follows it: symptom, cause, reason.
    mistakes : sequence of str
        The names of the known mistakes that it makes.
    link : str, optional
        A public report of the same mistake.
    error : Exception, optional
        What the reader's own code raised: `raise verdict.error` shows all.

    Examples
    --------
    >>> verdict = Verdict(False, "my_softmax: the rows sum to 2")
    >>> verdict
    ✗ my_softmax: the rows sum to 2
    >>> bool(verdict)
    False
    """

    def __init__(
        self, right, headline, lines=(), mistakes=(), link=None, error=None
    ):
        self.right = bool(right)
        self.headline = headline
        self.lines = tuple(lines)
        self.mistakes = tuple(mistakes)
        self.link = link
        self.error = error

    def __bool__(self):
        return self.right

    def __repr__(self):
        link = [f"Reported in public: {self.link}"] if self.link else []
        return "\n".join([self._marked(), *self.lines, *link])

    def _repr_html_(self):
        parts = [f"<strong>{escape(self._marked())}</strong>"]
        parts += [escape(line) for line in self.lines]
        if self.link:
            url = escape(self.link)
            parts.append(f'Reported in public: <a href="{url}">{url}</a>')
        return f'<p class="verdict">{"<br>".join(parts)}</p>'

    def _marked(self):
        return f"{'✓' if self.right else '✗'} {self.headline}"
