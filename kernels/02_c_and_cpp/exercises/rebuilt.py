def rebuilt(rules, changed, target):
    """What make builds on the way to `target`, in order; an empty list where all is up to date.

    `rules` gives each target the list of what it depends on; what has no rule is a source file.
    `changed` gives each existing file the time of its last change. A target is built where it does
    not exist, or where something it depends on is newer than it or is built itself. It is built
    after all that it depends on, which is looked at in the listed order, and never twice.
    """
    # TODO: write it
    # SOLUTION
    built, seen = [], set()

    def look_at(name):
        if name in seen or name not in rules:
            return
        seen.add(name)
        for needed in rules[name]:
            look_at(needed)
        missing = name not in changed
        if missing or any(n in built or changed[n] > changed[name] for n in rules[name]):
            built.append(name)

    look_at(target)
    return built
    # END
