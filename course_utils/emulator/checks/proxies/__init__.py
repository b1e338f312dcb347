"""Shared memory written by threads and read by the async proxy without a fence."""
