"""A small launch line by line, as a page that a notebook shows."""
