# A block takes `steps` steps along K, and has `stages` stages of shared memory. Before the first
# step the copies of steps 0 to stages - 2 begin. Then, at the start of each step, the copy of the
# step that is stages - 1 further on begins, if there is one, into the stage multiplied last.
def stage_plan(steps, stages):
    """For each step (stage that is multiplied, step whose copy begins or -1, stages in flight)."""
    # TODO: in flight are the copies that have begun and whose step has not been multiplied yet, the
    # one of this step left out
    # SOLUTION
    plan = []
    for step in range(steps):
        fetched = step + stages - 1
        begun = min(fetched + 1, steps)
        plan.append((step % stages, fetched if fetched < steps else -1, begun - step - 1))
    return plan
    # END
