GIVEN = (
    "Compare with float64, within 1 % of the largest",
    "Where the mean is ten thousand times the spread",
    "its mean may be a hundred times its spread",
    "grown to 256 times its next term",
    "Is that 1.5 times PyTorch's best",
    "not even the floor is 1.5 times faster",
    "store a 0: 0 times NaN is NaN",
    "whatever was in memory, and 0 times NaN",
    "The bar for a layer normalisation was 4.0 TB/s",
    "no digit is right where the mean is ten thousand times the spread",
)
