"""The chapter's pictures: so far, two keys and one slider."""

from utils.figures.__idea__.lead import (
    draw_lead,
    lead,
    say_lead,
    two_weights,
)
