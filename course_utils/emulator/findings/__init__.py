"""Findings and faults: what is wrong with a kernel, in words; and a launch's options."""
