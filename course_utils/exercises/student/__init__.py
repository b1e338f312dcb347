"""What a learner uses: the cell magic, saved answers, progress, and grading for a class."""
