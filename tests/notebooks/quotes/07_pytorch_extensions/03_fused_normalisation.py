GIVEN = (
    "Compare with float64, within 1 % of the largest",
    "Where the mean is ten thousand times the spread",
    "its mean may be a hundred times its spread",
    "grown to 256 times its next term",
    "is 2.2 times faster than PyTorch's own kernels (440 → 197 µs)",
    "and 1.09 times faster than the",
    "the floor is only 1.13 times faster",
    "store a 0: 0 times NaN is NaN",
    "whatever was in memory, and 0 times NaN",
    "no digit is right where the mean is ten thousand times the spread",
)
