"""What the machine itself can do: its memories, its arithmetic, its launches, its copies."""
