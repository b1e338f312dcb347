"""What finds faults that a run gets away with: races, uninitialised values, misused barriers."""
