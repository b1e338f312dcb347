"""Floating-point formats and how the processor rounds and flushes them."""
