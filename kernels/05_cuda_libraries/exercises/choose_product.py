def choose_product(ways, tolerance, smallest):
    """(name of the way to take, {name of each other way: why not})."""
    # TODO: the fastest that will do, and a reason for each of the others
    # SOLUTION
    fit = [way for way in ways if way[1] <= tolerance and way[3] <= smallest]
    chosen = min(fit, key=lambda way: way[2])[0] if fit else ""
    why = {}
    for name, error, _, least in ways:
        if name != chosen:
            underflow = "underflows" if least > smallest else "slower"
            why[name] = "too inexact" if error > tolerance else underflow
    return chosen, why
    # END
