# A statement of a program is one of three tuples; operands are integers, or names in a string.
#   ("set", name, op, left, right)   name = left op right, where op is "+", "-" or "*"
#   ("repeat", count, body)          the statements of the list body, count times
#   ("if", condition, body, other)   those of body where the condition is not 0, else those of other
def instructions_left(program, known):
    """How many instructions a tracer writes. known: the names whose values are known, with them."""
    # TODO: Python computes what is known, and nothing is written. A "set" with an operand that is
    # not known writes an instruction, and its name is not known from there on. A known count
    # unrolls a "repeat", a known condition leaves one side of an "if". One that is not known writes
    # 2 instructions and its bodies once each; what they set is not known behind it, and in a
    # "repeat" not at the start of the body either.
    # SOLUTION
    compute = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}
    now = dict(known)

    def value(operand):
        return operand if isinstance(operand, int) else now.get(operand)

    def names(body):
        for kind, first, *rest in body:
            if kind == "set":
                yield first
            for part in rest:
                if isinstance(part, list):
                    yield from names(part)

    def forget(*bodies):
        for body in bodies:
            for name in names(body):
                now.pop(name, None)

    def trace(body):
        return sum(map(written, body))

    def written(statement):
        nonlocal now
        kind, *parts = statement
        if kind == "set":
            name, op, left, right = parts
            left, right = value(left), value(right)
            if left is None or right is None:
                now.pop(name, None)
                return 1
            now[name] = compute[op](left, right)
            return 0
        decided, *bodies = parts
        decided = value(decided)
        if kind == "repeat":
            if decided is not None:
                return sum(trace(bodies[0]) for _ in range(decided))
            forget(*bodies)
            count = 2 + trace(bodies[0])
            forget(*bodies)
            return count
        if decided is not None:
            return trace(bodies[0] if decided else bodies[1])
        before, count = dict(now), 2
        for body in bodies:
            now = dict(before)
            count += trace(body)
        now = before
        forget(*bodies)
        return count

    return trace(program)
    # END
