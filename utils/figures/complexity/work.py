"""Where the multiply-adds of a layer go, as the text grows."""

from matplotlib.figure import Figure

from utils.cost import multiply_adds, projection_multiply_adds
from utils.explore import Explorable, Slider
from utils.explore.palette import KEY, MUTED, QUERY, WEIGHT
from utils.figures.complexity.memory import LENGTHS
from utils.figures.complexity.words import in_words
from utils.figures.drawing import WIDTH, write


def parts(N, d_model):
    """Count the multiply-adds of one layer, part by part.

    Parameters
    ----------
    N, d_model : int

    Returns
    -------
    dict of str to int
        The scores and the weighted sum cost the same however many heads
        share the width. The feed-forward layer after attention is taken as
        four times as wide, 8 N d_model².

    Examples
    --------
    >>> list(parts(1024, 512).values())
    [1073741824, 536870912, 536870912, 2147483648]
    """
    for_scores, for_output = multiply_adds(N, d_model)
    projections = projection_multiply_adds(N, d_model)
    return {
        "projections": projections,
        "scores QKᵀ": for_scores,
        "weighted sum": for_output,
        "feed-forward": 2 * projections,
    }


def share_of_pairs(N, d_model):
    """Give the share of the work that grows with N².

    >>> share_of_pairs(6 * 512, 512)
    0.5
    """
    found = parts(N, d_model)
    pairs = found["scores QKᵀ"] + found["weighted sum"]
    return pairs / sum(found.values())


def draw_work(N, d_model):
    """Draw the parts as bars, and the share of the pairs against N.

    Parameters
    ----------
    N, d_model : int

    Returns
    -------
    Figure
    """
    found = parts(N, d_model)
    total = sum(found.values())
    figure = Figure(figsize=(WIDTH, 4.1))
    ax = figure.add_axes([0.24, 0.575, 0.5, 0.34])
    ax.set_title("Multiply-adds of one layer, as shares", x=-0.44)
    ax.set(xlim=(0, 1), ylim=(3.6, -0.6), xticks=[0, 0.5, 1])
    ax.set_xticklabels(["0", "half", "all"])
    ax.set_yticks(range(4), found)
    ax.tick_params(axis="y", length=0)
    inks = (QUERY, KEY, KEY, MUTED)
    for y, ((_, count), ink) in enumerate(
        zip(found.items(), inks, strict=True)
    ):
        ax.barh(y, count / total, 0.62, color=ink, alpha=0.75)
        under = {"transform": ax.get_yaxis_transform()}
        write(ax, 1.04, y, in_words(count), ha="left", **under)
    low = figure.add_axes([0.24, 0.125, 0.72, 0.29])
    low.set(xscale="log", xlim=(110, 1.2e6), ylim=(0, 1.02))
    low.set_xticks([128, 1024, 8192, 65536, 524288])
    low.set_xticklabels(["128", "1K", "8K", "64K", "512K"])
    low.minorticks_off()
    low.set(xlabel="tokens N", yticks=[0, 0.5, 1], ylabel="share of pairs")
    low.set_yticklabels(["0", "half", "all"])
    shares = [share_of_pairs(n, d_model) for n in LENGTHS]
    low.plot(LENGTHS, shares, color=KEY, lw=2)
    low.axvline(6 * d_model, color=MUTED, lw=1, ls="--")
    text = f"N = 6d = {6 * d_model:,}"
    write(low, 6 * d_model * 0.87, 0.9, text, ha="right")
    dot = {"ms": 9, "color": WEIGHT, "mec": KEY, "clip_on": False}
    low.plot(N, share_of_pairs(N, d_model), "o", **dot, zorder=4)
    return figure


def say_work(N, d_model):
    """Say what share of the work the pairs take.

    >>> say_work(1024, 512)[:56]
    '1,024 tokens, 512 wide: one layer takes 4.29 billion mul'
    """
    found = parts(N, d_model)
    percent = 100 * share_of_pairs(N, d_model)
    told = f"{percent:.0f} %" if percent >= 1 else "less than 1 %"
    return (
        f"{N:,} tokens, {d_model:,} wide: one layer takes "
        f"{in_words(sum(found.values()))} multiply-adds. The part that grows "
        f"with N², scores and weighted sum, is {told} of them; it passes "
        f"half at N = {6 * d_model:,}."
    )


work = Explorable(
    "complexity-work",
    draw_work,
    say_work,
    Slider("N", list(LENGTHS), 1024, label="tokens N", texts="{:,}".format),
    Slider("d_model", [512, 1024, 4096, 8192], 512, label="width d_model"),
)
