"""Executing, normalising, stamping and checking the course's notebooks.

`canonical` fixes the one form a notebook is committed in, `stamp` ties its outputs to the sources
that made them, `checks` holds a committed notebook to the house rules without starting a kernel,
`execute` runs one, and `run` is the command line.
"""
