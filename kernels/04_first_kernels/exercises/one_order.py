def one_order(first, second, turns):
    """What two threads load if they take their steps in the order of `turns`, a string of "0" for
    the first thread and "1" for the second.

    A thread is a list of steps: ("store", "x", 1) writes a number, ("load", "x") reads one. All
    variables begin at 0. Returns one tuple: the first thread's loads, then the second thread's.
    """
    # TODO: play it
    # SOLUTION
    memory = {}
    loaded = [], []
    steps = iter(first), iter(second)
    for turn in turns:
        kind, name, *value = next(steps[int(turn)])
        if kind == "store":
            memory[name] = value[0]
        else:
            loaded[int(turn)].append(memory.get(name, 0))
    return (*loaded[0], *loaded[1])
    # END
