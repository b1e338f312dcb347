"""Learners' code in its own process, with limits."""
