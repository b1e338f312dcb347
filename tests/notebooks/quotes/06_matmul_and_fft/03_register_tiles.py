from tests.notebooks.drawn import record

FMAS = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"


def for_a_clock_of_fmas(kernel: str, counter: str, rate: int) -> float:
    """Clocks of another unit, as 06.read_three_gemms works them out of ncu's counters."""
    counted = record("ncu")["kernels"][kernel]
    return counted[counter] / rate / (counted[FMAS] / 128)


QUOTES = {
    "4.5 times": lambda: 1.125 / 0.25,  # the solution of 06.predict_loads
    "6.4 clocks of wavefronts": lambda: for_a_clock_of_fmas(
        "sgemm_shared_32", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1
    ),
    "58,166 wavefronts for 53,248 clocks": lambda: (
        record("ncu")["kernels"]["sgemm_register_tile"][FMAS] / 128
    ),
    "only 1.2 clocks for each": lambda: for_a_clock_of_fmas(
        "sgemm_conflict_free", "smsp__inst_executed.sum", 4
    ),
    "Judging by the wavefronts, it should have 1.5 times": lambda: 1.156 / 0.7656,  # as counted
}

GIVEN = (
    "the large one takes 256 µs",
    "4 rounds of 85.3 µs",
    "needs 50,000 clocks for them",
)  # the examples of tasks
