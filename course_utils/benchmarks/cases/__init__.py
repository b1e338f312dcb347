"""The kernels that are measured beside libraries, a module a chapter."""
