"""Any array as one of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def host_copy(array: Any) -> np.ndarray:
    """Any array as a NumPy array of the same dtype. torch's bfloat16, which NumPy lacks, becomes
    float32."""
    if hasattr(array, "detach"):  # torch
        array = array.detach().cpu()
        array = (array.float() if str(array.dtype) == "torch.bfloat16" else array).numpy()
    elif hasattr(array, "get") and hasattr(array, "dtype"):  # CuPy's, or the emulator's
        array = array.get()
    return np.asarray(array)
