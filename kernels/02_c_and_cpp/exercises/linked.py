def linked(objects, library):
    """Which members of a static library a linker takes, and what it finds no definition of.

    `objects` is a list of pairs of sets, (names defined, names used), one for each object file.
    `library` gives the name of each member the same pair. A member is taken only if it defines a
    name that something taken so far uses and nothing taken so far defines; the members it uses in
    turn are taken too. No two members define the same name. Returns two sorted lists: the members
    taken, and the names still undefined.
    """
    # TODO: collect what is defined and used; take members until none of them helps any more
    # SOLUTION
    defined = set().union(*(names for names, _ in objects))
    used = set().union(*(names for _, names in objects))
    taken = []
    while True:
        helps = [m for m in library if m not in taken and library[m][0] & (used - defined)]
        if not helps:
            return sorted(taken), sorted(used - defined)
        for member in helps:
            taken.append(member)
            defined |= library[member][0]
            used |= library[member][1]
    # END
