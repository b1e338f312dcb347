def interleavings(first, second):
    """The outcomes of two threads that take turns, step by step: a sorted list without repeats.

    A thread is a list of steps: ("store", "x", 1) writes a number, ("load", "x") reads one. All
    variables begin at 0. An outcome is the tuple of all that was loaded, the first thread's loads
    before the second's.
    """
    # TODO: play every order that keeps the steps of each thread in theirs, and collect outcomes
    # SOLUTION
    found = set()

    def play(at_first, at_second, memory, loaded_first, loaded_second):
        if at_first == len(first) and at_second == len(second):
            found.add(loaded_first + loaded_second)
        for mine, thread, at in ((True, first, at_first), (False, second, at_second)):
            if at == len(thread):
                continue
            kind, name, *value = thread[at]
            after, one, two = memory, loaded_first, loaded_second
            if kind == "store":
                after = {**memory, name: value[0]}
            elif mine:
                one = (*one, memory.get(name, 0))
            else:
                two = (*two, memory.get(name, 0))
            play(at_first + mine, at_second + (not mine), after, one, two)

    play(0, 0, {}, (), ())
    return sorted(found)
    # END
