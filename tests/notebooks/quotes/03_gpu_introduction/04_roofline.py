from tests.notebooks.drawn import DATA_SHEET, milliseconds, record
from tests.notebooks.quoting import about


def naive_gemm_over_the_least():
    hardware = record("hardware")
    least = next(k["bytes"] for k in hardware["kernels"] if k["kernel"] == "sgemm_naive")
    return hardware["traffic"]["sgemm_naive"]["HBM"] / least


def shared_memory_limit():
    """TFLOP/s of the GEMM with tiles, if its loads kept shared memory busy without a pause."""
    counts = record("ncu")["kernels"]["sgemm_shared_32"]
    wavefronts = counts["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"]
    flops = 2 * counts["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]
    return record("hardware")["shared_bandwidth"] * flops / (128 * wavefronts) / 1e12


def weights_ms():
    """To read 8192 x 8192 floats of 4 bytes at the rate of a large copy."""
    hardware = record("hardware")
    return 4 * hardware["matmul"]["n"] ** 2 / hardware["copy_bandwidth"] * 1e3


QUOTES = {
    "about 40 times the least": lambda: about(naive_gemm_over_the_least()),
    "at about 10.7 TFLOP/s": shared_memory_limit,
    "takes 0.73 ms on an H200": lambda: milliseconds("vec_add_vector", 1 << 28),
    "and 0.93 ms without": lambda: milliseconds("vec_add", 1 << 28),
    "takes about 0.06 ms in fp32": weights_ms,
}
FACTS = {
    "and fifteen times fp32's outside": f"989 against 67 TFLOP/s: {DATA_SHEET}",
    "fifteen times the peak": f"989 against 67 TFLOP/s: {DATA_SHEET}",
    "a ridge fifteen times farther out": f"989 against 67 TFLOP/s: {DATA_SHEET}",
    "67 TFLOP/s and 4.8 TB/s. Figures": DATA_SHEET,
}
GIVEN = (
    "A thousand times fewer elements: a thousand times less time?",
    "takes 4 microseconds, one of 1000 elements takes 4 microseconds",
    "Not a thousand times less",
    "each element 9 · 64 times",
    "each element 4096 times",
)
