def read_the_waits(report):
    """The part of a ring that limits a kernel: "copies", "products", "stages" or "nothing".

    `report` maps "producer" and "consumer" to what a trace counted of each: "steps", "clocks" in
    all, and "waiting", the clocks of these spent at the barriers `empty` and `full`.
    """
    # TODO: a role waits if it spends more than a quarter of its clocks at its barrier. Return
    # "copies" if only the consumer waits, "products" if only the producer waits, "stages" if both
    # do, and "nothing" if neither does
    # SOLUTION
    waits = {role: 4 * counted["waiting"] > counted["clocks"] for role, counted in report.items()}
    if waits["producer"] and waits["consumer"]:
        return "stages"
    if waits["consumer"]:
        return "copies"
    return "products" if waits["producer"] else "nothing"
    # END
