"""Measured files: read by name and device, written, drawn as pages."""
