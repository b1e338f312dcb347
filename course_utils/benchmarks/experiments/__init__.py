"""Studies of their own: what the machine can do, and what a measurement can get wrong."""
