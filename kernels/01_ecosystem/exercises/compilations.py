def compilations(calls):
    """How often a jitted function is compiled. Each call is a list of arguments:
    ("array", shape, dtype), ("number", value) or ("static", value)."""
    # TODO: what of an argument does the compiler look at? Count the different calls.
    # STARTER
    #| return len(calls)
    # SOLUTION
    seen = set()
    for call in calls:
        # Of a number JAX traces only the type; its value is an input like an array's.
        key = [a[:1] + (type(a[1]),) if a[0] == "number" else tuple(a) for a in call]
        seen.add(tuple(key))
    return len(seen)
    # END
