from math import ceil


def cheapest(offers, hours):
    """The name of the offer that costs least, and what it costs, for a job that takes `hours` on a
    GPU of speed 1. An offer is (name, price of an hour, speed, hours to set up, least hours that
    are billed). What is paid for is set-up and work, in whole minutes, and the least at least.
    Of two that cost the same, the first counts."""

    # TODO: write it
    # STARTER
    #| return "", 0.0
    # SOLUTION
    def cost(offer):
        name, price, speed, setup, least = offer
        minutes = ceil(round(60 * (setup + hours / speed), 6))
        return price * max(least, minutes / 60)

    best = min(offers, key=cost)
    return best[0], cost(best)
    # END
