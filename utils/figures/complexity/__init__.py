"""What attention costs, in pictures."""

from utils.figures.complexity.memory import memory
from utils.figures.complexity.patterns import patterns
from utils.figures.complexity.work import work
