def read_list():
    """The places of the task's report, as lists: "again" to be timed again, "waves" with more than
    one wave, "split" with K in several parts."""
    # TODO: return {"again": [...], "waves": [...], "split": [...]}
    # SOLUTION
    return {"again": [1, 2, 3], "waves": [5], "split": [6, 7]}
    # END
