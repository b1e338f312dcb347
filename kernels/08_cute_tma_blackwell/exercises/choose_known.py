# TODO: write choose_known(numbers, seconds, time, gain) from its first line. `numbers` has the
# number of each launch, at least one. Compiling a kernel takes `seconds`, a launch `time` µs, and
# `gain` µs less if the compiler knows the number. Return ("argument", seconds in all) or
# ("constexpr", seconds in all), whichever takes less, and in a tie "argument".
# SOLUTION
def choose_known(numbers, seconds, time, gain):
    """Whether a number is worth compiling in, and the seconds that it all takes."""
    launches = len(numbers)
    argument = seconds + launches * time * 1e-6
    constant = len(set(numbers)) * seconds + launches * (time - gain) * 1e-6
    if argument <= constant:
        return "argument", argument
    return "constexpr", constant


# END
