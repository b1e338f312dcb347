"""Reports on a launch: its time on a GPU, its counts, its faults, its steps."""
