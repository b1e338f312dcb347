"""Tools that make and check the files of assets/benchmarks."""
