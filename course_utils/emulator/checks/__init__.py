"""What finds faults that a run gets away with."""
