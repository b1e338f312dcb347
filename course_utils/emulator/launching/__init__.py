"""Modules, kernels and launches: where instructions, machine and observers meet."""
