# engines is a list of (milliseconds, bytes of workspace, notes): notes is a set of words about the
# engine, and the milliseconds are None where it could not run.
def pick_engine(engines, workspace_bytes, refused):
    """The place, from 0 on, of the engine to take, -1 where there is none."""
    # TODO: the fastest that ran, fits into the workspace and has no note that is refused. Where two
    #       are equally fast, the one with less workspace; where that is equal too, the first
    # SOLUTION
    fit = [
        (ms, needed, place)
        for place, (ms, needed, notes) in enumerate(engines)
        if ms is not None and needed <= workspace_bytes and not notes & refused
    ]
    return min(fit)[2] if fit else -1
    # END
