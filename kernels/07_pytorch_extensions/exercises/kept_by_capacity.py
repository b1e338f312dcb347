def kept_by_capacity(chosen, experts, capacity):
    """Where the assignments go if each expert has room for `capacity` rows.

    chosen: the expert of each assignment, in the order of tokens. An expert's rows are
    expert * capacity to (expert + 1) * capacity - 1, and it takes assignments in their order.
    Returns the list of rows, -1 for an assignment that finds its expert full.
    """
    # TODO: give each assignment the next row of its expert
    # STARTER
    #| return [expert * capacity for expert in chosen]
    # SOLUTION
    taken, places = [0] * experts, []
    for expert in chosen:
        if taken[expert] < capacity:
            places.append(expert * capacity + taken[expert])
            taken[expert] += 1
        else:
            places.append(-1)
    return places
    # END
