"""The book's colours: one for each role, in every figure.

A figure is drawn in the light colours. On a page each light colour becomes
a CSS variable, so that ink and ground follow the reader's theme. The hues
are those of Okabe and Ito, told apart by colour-blind readers, darkened or
lightened until text in them reaches a contrast of 4.5 to 1 (`tests` hold
that). `WEIGHT` fills cells and bars; ink is legible on it.
"""

# each role in the light theme and in the dark one
COLOURS = {
    "ink": ("#1b2430", "#e6e9ed"),
    "muted": ("#5a6572", "#a5b0bc"),
    "grid": ("#d8dee5", "#39424d"),
    "ground": ("#fefefe", "#121212"),
    "query": ("#0069a8", "#6db9f2"),
    "key": ("#b34a00", "#ff9c5a"),
    "value": ("#00754f", "#3fcb9c"),
    "weight": ("#e8a200", "#865800"),
    "other": ("#8f3f71", "#e08fbf"),
}

INK, MUTED, GRID, GROUND, QUERY, KEY, VALUE, WEIGHT, OTHER = (
    light for light, _ in COLOURS.values()
)


def css_variable(role):
    """The name of a role's CSS variable.

    >>> css_variable("query")
    '--explore-query'
    """
    return f"--explore-{role}"


def css():
    """Both themes as style sheet rules.

    The page's theme and JupyterLab's each mark the dark one in their way.
    """

    def rule(selector, column):
        lines = (
            f"{css_variable(role)}:{pair[column]}"
            for role, pair in COLOURS.items()
        )
        return selector + "{" + ";".join(lines) + "}"

    dark = (
        'html[data-theme="dark"] .explorable,'
        'body[data-jp-theme-light="false"] .explorable'
    )
    return rule(".explorable", 0) + rule(dark, 1)
