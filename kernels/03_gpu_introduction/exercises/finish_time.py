def finish_time(jobs, workers, seconds):
    """When the last of `jobs` equal jobs is done, if each takes a worker `seconds` seconds.

    All `workers` start at 0; whoever is done takes the next job. All numbers are whole.
    """
    # TODO: how many jobs does the busiest worker have to do? Return its time.
    # SOLUTION
    return (jobs + workers - 1) // workers * seconds
    # END
