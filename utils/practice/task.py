"""What a check is made of: a task, its right answer, its known mistakes."""

from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Mutant", "Task"]


@dataclass(frozen=True)
class Mutant:
    """A famous mistake, as a function that makes it.

    Parameters
    ----------
    name : str
        What it is called in a verdict.
    run : callable
        Takes the task's arguments as NumPy arrays, gives the wrong answer.
    symptom : str
        What a reader can see of it in the output.
    cause : str
        What the code does.
    why : str
        What it should do, and the reason.
    report : str
        The address of a public report by people who made it; "" where
        none was found.
    changes : dict
        Which steps of the task's recipe it changes; two mistakes that
        change different steps can be made at once.
    """

    name: str
    run: Callable
    symptom: str
    cause: str
    why: str
    report: str
    changes: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """What a reader's function should do.

    Parameters
    ----------
    arguments : tuple of str
        The names under which the verdict speaks of the arguments.
    answers : dict of str to callable
        Right functions. A name says which of several conventions it is; it
        is "" where there is but one.
    stages : callable
        Gives lists of trials, a trial being a tuple of arguments: ordinary
        ones first, then those on which only care succeeds.
    mutants : tuple of Mutant
    promise : str
        What a right function is told.
    recipe : callable, optional
        The right function with its steps as keywords, for two mistakes.
    booleans : bool
        The output holds truth values.
    weights : bool
        Each row of the output should sum to 1.
    """

    arguments: tuple
    answers: dict
    stages: Callable
    mutants: tuple
    promise: str
    recipe: Callable | None = None
    booleans: bool = False
    weights: bool = False
