"""``load`` and what it returns: kernels whose every launch is checked."""
