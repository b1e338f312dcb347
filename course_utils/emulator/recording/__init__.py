"""What a launch did: counts under the names of Nsight Compute, and the steps of one warp."""
