FACTS = {"450 GB/s in each direction": "NVIDIA H200 data sheet: NVLink 900 GB/s, both ways"}
GIVEN = (
    "called 20 times in a row",
    "4 MB, 2 µs and 100 GB/s: the ring takes 72 µs",
    "A network of 30 + 60 ms, 3 stages: 90 ms with the batch in one part, 40 ms with 6 parts",
    "Ready at 1, 2 and 3 ms, with 2 ms for each all-reduce: at 7 ms",
)
