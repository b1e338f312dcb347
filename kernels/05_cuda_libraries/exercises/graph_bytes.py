# operations is a list of (inputs, output) in the order in which they are computed: a tuple of names
# and a name. bytes_of has the bytes of each tensor, wanted the names of those that are needed
# afterwards. Every operation is computed. A kernel reads each of its tensors from memory once.
def graph_bytes(operations, bytes_of, wanted):
    """The bytes that cross the memory if each operation is a kernel, and if all are one kernel."""
    # TODO: (a kernel each, one kernel). In one kernel, what is made inside is not read from memory,
    #       and what is neither wanted nor given is virtual
    # SOLUTION
    apart = sum(
        sum(bytes_of[name] for name in set(inputs)) + bytes_of[output]
        for inputs, output in operations
    )
    made = {output for _, output in operations}
    read = {name for inputs, _ in operations for name in inputs} - made
    together = sum(bytes_of[name] for name in read) + sum(bytes_of[name] for name in made & wanted)
    return apart, together
    # END
