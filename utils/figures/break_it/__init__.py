"""The lab's figures: a right computation, and a famous mistake beside it."""

from utils.figures.break_it.batch import batch
from utils.figures.break_it.cases import CASES, compute
from utils.figures.break_it.heads import heads
from utils.figures.break_it.rope import rope
from utils.figures.break_it.weights import weights
