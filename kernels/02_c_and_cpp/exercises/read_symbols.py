def read_symbols():
    """The names of the task's report, as lists: "twice" for those that two files define,
    "undefined" for those that the linker doesn't find, "C" for those that norm.cpp must declare as
    extern "C"."""
    # TODO: return {"twice": [...], "undefined": [...], "C": [...]}
    # SOLUTION
    return {
        "twice": ["sum"],
        "undefined": ["_Z3dotPKfS0_i", "norm"],
        "C": ["dot", "norm"],
    }
    # END
