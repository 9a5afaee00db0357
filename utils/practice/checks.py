"""Checks that name the mistake in a reader's own function.

Each takes the function itself, for NumPy arrays or torch tensors, and gives
a `Verdict`: true where the function is right, and in words which mistake it
makes where it is not. An error in the reader's code is shown as the reader's.
All raise `ValueError` if they are given anything but a function.
"""

from utils.practice.attention_checks import (
    check_attention,
    check_decode_step,
    check_merge_heads,
    check_multi_head_attention,
    check_projections,
    check_scaled_scores,
    check_self_attention,
    check_softmax,
    check_split_heads,
)
from utils.practice.mask_checks import (
    check_cache_mask,
    check_causal_mask,
    check_padding_mask,
)
from utils.practice.on_attention import ATTENTION, SELF_ATTENTION
from utils.practice.on_decode import DECODE_STEP
from utils.practice.on_heads import MERGE_HEADS, SPLIT_HEADS
from utils.practice.on_masks import CACHE_MASK, CAUSAL_MASK, PADDING_MASK
from utils.practice.on_multi_head import MULTI_HEAD
from utils.practice.on_positions import (
    ADDED_POSITIONS,
    POSITIONAL_ENCODING,
    ROPE,
)
from utils.practice.on_projections import PROJECTIONS
from utils.practice.on_weights import SCALED_SCORES, SOFTMAX
from utils.practice.position_checks import (
    check_added_positions,
    check_positional_encoding,
    check_rope,
)

__all__ = [
    "TASKS",
    "check_added_positions",
    "check_attention",
    "check_cache_mask",
    "check_causal_mask",
    "check_decode_step",
    "check_merge_heads",
    "check_multi_head_attention",
    "check_padding_mask",
    "check_positional_encoding",
    "check_projections",
    "check_rope",
    "check_scaled_scores",
    "check_self_attention",
    "check_softmax",
    "check_split_heads",
]

# what each check compares with, for the lab and for the tests
TASKS = {
    check_softmax: SOFTMAX,
    check_scaled_scores: SCALED_SCORES,
    check_projections: PROJECTIONS,
    check_attention: ATTENTION,
    check_self_attention: SELF_ATTENTION,
    check_causal_mask: CAUSAL_MASK,
    check_cache_mask: CACHE_MASK,
    check_padding_mask: PADDING_MASK,
    check_positional_encoding: POSITIONAL_ENCODING,
    check_added_positions: ADDED_POSITIONS,
    check_rope: ROPE,
    check_split_heads: SPLIT_HEADS,
    check_merge_heads: MERGE_HEADS,
    check_multi_head_attention: MULTI_HEAD,
    check_decode_step: DECODE_STEP,
}
