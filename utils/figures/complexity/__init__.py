"""What attention costs, in pictures."""

from utils.figures.complexity.memory import memory
from utils.figures.complexity.patterns import patterns
from utils.figures.complexity.record import record
from utils.figures.complexity.ring import ring
from utils.figures.complexity.serving import serving
from utils.figures.complexity.tiles import SCORES, VALUES, tiles
from utils.figures.complexity.work import work
