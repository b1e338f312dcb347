from math import tanh


def gradients(steps):
    """What the last of these steps does when each of them grows: a list, a number for each step.

    A step is ("input", number), ("+", i, j), ("*", i, j) or ("tanh", i), where i and j are the
    numbers of earlier steps, perhaps the same one twice. Steps that do not lead to the last get 0.
    """
    values = []
    for name, *of in steps:
        if name == "input":
            values.append(of[0])
        elif name == "+":
            values.append(values[of[0]] + values[of[1]])
        elif name == "*":
            values.append(values[of[0]] * values[of[1]])
        else:
            values.append(tanh(values[of[0]]))
    # TODO: go back from the last step, and return a list of as many numbers as there are steps
    # SOLUTION
    found = [0.0] * len(steps)
    found[-1] = 1.0
    for k in reversed(range(len(steps))):
        name, *of = steps[k]
        if name == "+":
            found[of[0]] += found[k]
            found[of[1]] += found[k]
        elif name == "*":
            found[of[0]] += values[of[1]] * found[k]
            found[of[1]] += values[of[0]] * found[k]
        elif name == "tanh":
            found[of[0]] += (1 - values[k] ** 2) * found[k]
    return found
    # END
