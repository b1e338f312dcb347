"""What the notebook on batched QR calls: the launches that are measured, and their check."""

from course_utils.benchmarks.cases.pytorch_extensions.batched_qr import (  # noqa: F401
    Factors,
    backward_errors,
    block_calls,
    flops,
    lengths,
    panels_calls,
    tall_calls,
    tensor_calls,
    warp_calls,
)
