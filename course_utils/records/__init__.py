"""Measured files: read by name and device, written, drawn into the README."""
