def review():
    """The mistakes of the task's program, a dictionary {line: word}. The words are
    "copy"       two objects own one block of memory
    "side"       a function isn't made for the processor that calls it
    "owner"      memory is freed while a kernel may still use it
    "reference"  a kernel gets an address of the host
    "capture"    a lambda refers to a variable that is gone when it's called
    "dangles"    what a reference refers to has moved
    "guard"      threads without an element aren't kept away
    "leak"       memory is never freed"""
    # TODO: {3: "leak", 25: "guard"} would be two mistakes, in lines 3 and 25
    # STARTER
    #| return {}
    # SOLUTION
    found = {1: "copy", 9: "side", 11: "owner", 12: "reference"}
    return found | {20: "capture", 27: "dangles"}
    # END
