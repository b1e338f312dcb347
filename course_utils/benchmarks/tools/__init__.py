"""What makes and checks the files of assets/benchmarks."""
