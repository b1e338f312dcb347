# TODO: write where_to_run(megabytes_in, megabytes_out, link, cpu_ms, gpu_ms, times) from its first
# line. The same function is applied `times` times to one data set, each time to the result of the
# time before. The CPU takes cpu_ms for each of them. The GPU takes gpu_ms, and its data crosses a
# link of `link` GB/s. Return the better choice and its milliseconds: ("CPU", ms) or ("GPU", ms).
# In a tie choose the CPU.
# SOLUTION
def where_to_run(megabytes_in, megabytes_out, link, cpu_ms, gpu_ms, times):
    """Where the work is done sooner, and in how many milliseconds."""
    on_cpu = times * cpu_ms
    on_gpu = (megabytes_in + megabytes_out) / link + times * gpu_ms
    return ("GPU", on_gpu) if on_gpu < on_cpu else ("CPU", on_cpu)


# END
