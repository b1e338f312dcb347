"""Reads of bytes that nothing has written, and what is computed from them."""
