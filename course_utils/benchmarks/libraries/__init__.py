"""The rivals of the course's kernels: the strongest calls of other libraries.

Each function returns callables by name, as :class:`.harness.workload.Workload` holds them, and
none where there is no GPU. Nothing is compiled, searched or allocated before the first call.
"""
