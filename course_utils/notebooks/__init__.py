"""Executing, normalising, stamping and checking the course's notebooks.

`canonical` fixes the one form a notebook is committed in, `stamp` ties its outputs to the sources
that made them, `rules` holds a committed notebook to the house rules without starting a kernel,
`execute` runs one, `output_store` keeps the outputs of its `%%needs` cells on a GPU for readers
without one (`stored_outputs`, above this room, shows them), and `run` is the command line.
"""
