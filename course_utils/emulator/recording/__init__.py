"""Recorders of a launch: counts under the names of Nsight Compute, and the steps of one warp."""
