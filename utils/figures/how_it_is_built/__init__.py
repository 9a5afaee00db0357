"""The house itself in a picture: its parts, and what imports what."""

from utils.figures.how_it_is_built.floors import (
    draw_floors,
    floors,
    say_floors,
)
from utils.figures.how_it_is_built.survey import (
    GROUND_FLOOR,
    PARTS,
    Survey,
    sources,
    survey,
)
