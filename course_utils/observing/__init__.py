"""What a launch did: its time on a GPU, its counts, its faults, its steps."""
