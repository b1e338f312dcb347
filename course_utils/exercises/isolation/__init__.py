"""Learners' code in a process of its own, with limits."""
