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
    "10 ms over 100 pictures is 0.1 ms",
    "0.1 ms is one over the throughput",
    "No single picture is done 0.1 ms after",
)
