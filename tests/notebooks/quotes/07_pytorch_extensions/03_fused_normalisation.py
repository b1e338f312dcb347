GIVEN = (
    "Where the mean is ten thousand times the spread",
    "its mean may be a hundred times as large",
    "grown to 256 times its next term",
    "Is that 1.5 times PyTorch's best",
    "nobody is 1.5 times as fast",
    "store a 0: 0 times NaN is NaN",
    "whatever was in memory, and 0 times NaN",
    "The bar for a layer normalisation was 4.0 TB/s",
    "no digit is right where the mean is ten thousand times the spread",
)
