"""What one token's query asks, or what its key is asked, in a real head."""

import numpy as np

from utils import trained
from utils.attention import attention_weights, scaled_scores
from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, INK, KEY, MUTED, QUERY, WEIGHT
from utils.figures.drawing import WIDTH, add_cell, blank_page, write
from utils.figures.wording import share, signed

# A name in a state link: the sentence, and the token that asks first.
SENTENCES = {
    "ready": (
        "The developer deployed the application because it was ready.",
        7,
    ),
    "animal": ("The animal crossed the road because it was frightened.", 7),
    "loan": ("The bank approved the loan.", 2),
}
HEADS = {"L4H4": (4, 4), "L5H11": (5, 11), "L5H7": (5, 7)}
ROLES = {"asks": "its query asks", "asked": "its key is asked"}
MOST_TOKENS = 12
_STEP, _TOP = 0.29, 0.98
_ZERO, _UNIT = 1.78, 0.19  # inches: where score 0 stands, and a score of 1
_LEFT = 3.5  # where the weights begin
_FULL = 0.72  # inches for a weight of 1


def draw_ask(sentence, head, role, token):
    """Draw scaled scores and weights of one token and all the others.

    Parameters
    ----------
    sentence, head : str
        Names in SENTENCES and HEADS.
    role : str
        "asks": the row of its query. "asked": the column of its key.
    token : int
        Its place, [CLS] being 0.

    Returns
    -------
    Figure
    """
    names, scores, weights = _ask(sentence, head, role, token)
    mine, theirs = (QUERY, KEY) if role == "asks" else (KEY, QUERY)
    figure, axes = blank_page(4.75)
    title = {
        "asks": f"The query of {_whole(names, token)} meets every key",
        "asked": f"The key of {_whole(names, token)} meets every query",
    }[role]
    write(axes, 0.1, 0.2, title, mine, "left", size=10.5)
    bottom = _TOP + MOST_TOKENS * _STEP
    for x, text in (
        (1.02, {"asks": "keys", "asked": "queries"}[role]),
        (3.2, "score ÷ √dₖ"),
        (WIDTH - 0.1, "weight"),
    ):
        write(axes, x, 0.52, text, MUTED, "right")
    for tick in (-2, 0, 2, 4, 6):
        x = _ZERO + _UNIT * tick
        write(axes, x, 0.76, signed(tick, 0), MUTED)
        axes.vlines(x, 0.88, bottom, color=GRID, lw=0.8, zorder=0)
    for place in range(MOST_TOKENS):
        # blank rows end a short sentence, so that all pictures are one tree
        there = place < len(names)
        name, score, weight = (
            (names[place], scores[place], weights[place])
            if there
            else (" ", 0.0, 0.0)
        )
        y = _TOP + (place + 0.5) * _STEP
        most = there and place == np.argmax(scores)
        look = {"bold": most, "size": 10}
        name = f"▸ {name}" if place == token else name
        write(axes, 1.02, y, name, theirs, "right", **look)
        start = _ZERO + _UNIT * min(score, 0)
        bar = (start, y - 0.07), _UNIT * abs(score), 0.14
        add_cell(axes, *bar, fc=MUTED, lw=0)
        slot = _FULL if there else 0
        add_cell(axes, (_LEFT, y - 0.1), slot, 0.2, fc=GRID, lw=0, alpha=0.4)
        add_cell(axes, (_LEFT, y - 0.1), _FULL * weight, 0.2, fc=WEIGHT, lw=0)
        x = _ZERO + _UNIT * max(score, 0) + 0.06
        text = signed(score, 2) if there else " "
        write(axes, x, y, text, INK, "left", size=9, bold=most)
        text = share(weight) if there else " "
        write(axes, WIDTH - 0.1, y, text, INK, "right", bold=most)
    total = f"sum of the weights {weights.sum():.3f}"
    write(axes, WIDTH - 0.1, bottom + 0.14, total, MUTED, "right")
    return figure


def say_ask(sentence, head, role, token):
    """Say what `draw_ask` draws, for the same values."""
    names, scores, weights = _ask(sentence, head, role, token)
    layer, number = HEADS[head]
    first, second = np.argsort(-scores, kind="stable")[:2]
    pairs = " and ".join(
        f"{_other(names, place, token)} (scaled score "
        f"{signed(scores[place], 2)}, weight {share(weights[place])})"
        for place in (first, second)
    )
    what = {
        "asks": f"the query of {_whole(names, token)} scores highest with "
        f"the keys of {pairs}. The weights along its row",
        "asked": f"the key of {_whole(names, token)} scores highest with "
        f"the queries of {pairs}. The weights down its column",
    }[role]
    return f"Layer {layer}, head {number}: {what} sum to {weights.sum():.3f}."


def _ask(sentence, head, role, token):
    """The tokens, and a row or a column of scaled scores and weights."""
    text = SENTENCES[sentence][0]
    Q, K = trained.queries_and_keys(text, *HEADS[head])
    scores, weights = scaled_scores(Q, K), attention_weights(Q, K)
    if role == "asked":
        scores, weights = scores.T, weights.T
    return trained.tokens(text), scores[token], weights[token]


def _whole(names, place):
    """Name a token, and which one it is if the word comes twice."""
    if names.count(names[place]) == 1:
        return f"“{names[place]}”"
    nth = ("first", "second")[names[:place].count(names[place])]
    return f"the {nth} “{names[place]}”"


def _other(names, place, token):
    return "itself" if place == token else _whole(names, place)


ask = Explorable(
    "qkv-ask",
    draw_ask,
    say_ask,
    Slider(
        "sentence",
        list(SENTENCES),
        texts=[text for text, _ in SENTENCES.values()],
    ),
    Slider("head", list(HEADS), texts=list(HEADS)),
    Slider("role", list(ROLES), texts=list(ROLES.values())),
    Slider(
        "token",
        {
            name: range(len(trained.tokens(text)))
            for name, (text, _) in SENTENCES.items()
        },
        start={name: first for name, (_, first) in SENTENCES.items()},
        texts={
            name: trained.tokens(text) for name, (text, _) in SENTENCES.items()
        },
        given="sentence",
    ),
)
