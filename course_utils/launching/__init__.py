"""``load``, and the kernels that it returns, whose every launch is checked."""
