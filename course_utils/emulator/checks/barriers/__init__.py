"""Misused barriers, and asynchronous results that are read before their wait."""
