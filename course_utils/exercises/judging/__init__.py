"""Is an answer right, and if not, why: the judges of each kind of exercise, and the proofs."""
