"""Four weights as bars, over the scores they come from."""

from matplotlib.figure import Figure

from utils.attention import softmax
from utils.explore import Explorable, Slider
from utils.explore.palette import GRID, MUTED, WEIGHT
from utils.figures.drawing import WIDTH, write, write_table
from utils.figures.softmax.example import ROW, SCORE_VALUES, TOKENS
from utils.figures.wording import brief, named, share


def draw_temperature(temperature, score):
    """Draw the four weights as bars, over the scores they come from.

    Parameters
    ----------
    temperature : float
    score : float
        The score of "developer".

    Returns
    -------
    Figure
    """
    scores = (ROW[0], score, *ROW[2:])
    weights = softmax(scores, temperature=temperature)
    figure = Figure(figsize=(WIDTH, 3.6))
    ax = figure.add_axes([0.17, 0.26, 0.81, 0.65])
    ax.set_title("Weights of “deployed”")
    ax.set(xlim=(-0.5, 3.5), ylim=(0, 1.1), ylabel="weight")
    ax.set(xticks=[], yticks=[0, 0.25, 0.5, 0.75, 1])
    ax.spines["left"].set_bounds(0, 1)
    places = range(len(TOKENS))
    ax.bar(places, softmax(scores), 0.84, color=GRID)
    ax.bar(places, weights, 0.56, color=WEIGHT)
    for x, weight in zip(places, weights, strict=True):
        ax.text(x, weight + 0.02, share(weight), ha="center", va="bottom")
    note = "wide grey bars: at temperature 1"
    write(ax, 3.5, 1.16, note, MUTED, ha="right")
    divided = [brief(s / temperature) for s in scores]
    rows = {"score": map(brief, scores), f"÷ {temperature:g}": divided}
    write_table(ax, places, 0.11, {"": TOKENS, **rows}, TOKENS)
    return figure


def say_temperature(temperature, score):
    """Say what `draw_temperature` draws, for the same values.

    >>> say_temperature(1, 2.5)[-65:]
    'The 0.130, developer 0.476, deployed 0.106 and application 0.289.'
    """
    scores = (ROW[0], score, *ROW[2:])
    return (
        f"At temperature {temperature:g}, with a score of {brief(score)} "
        "for developer, the weights are "
        f"{named(TOKENS, softmax(scores, temperature=temperature))}."
    )


_TEMPERATURES = [0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10]

temperature = Explorable(
    "softmax-temperature",
    draw_temperature,
    say_temperature,
    Slider("temperature", _TEMPERATURES, 1),
    Slider("score", SCORE_VALUES, 2.5, label="score of “developer”"),
)
