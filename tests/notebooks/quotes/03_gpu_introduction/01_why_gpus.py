from tests.notebooks.drawn import DATA_SHEET

QUOTES = {"1.98 GHz give the 66.9 TFLOP/s": lambda: (1.98, 132 * 128 * 2 * 1.98e-3)}
FACTS = {
    "700 W as a module, 2 TB/s and 350 W as a card": "NVIDIA H100 data sheet",
    "128 GB/s for PCIe and 900 GB/s for NVLink": DATA_SHEET,
    "4.8 TB/s for its memory": DATA_SHEET,
}
GIVEN = (
    "twice, ten times, a hundred times?",
    "On the CPU it takes 2 ms, on the GPU 3 ms, copies included. A hundred pictures together take "
    "200 ms on the CPU and 10 ms on the GPU",
    "2 ms against 3 ms for one",
    "because there it runs 50 times faster",
    "over a link of 50 GB/s, the CPU takes 10 ms for a run of the function and the GPU 0.2 ms",
    "400 MB at 50 GB/s take 8 ms",
    "The copies cost 16 ms once, and each run saves 9.8 ms",
    "10 ms over 100 pictures is 0.1 ms",
    "0.1 ms is one over the throughput",
    "No single picture is done 0.1 ms after",
)
