"""Every kind of verdict an exercise can get, and the next step for those that `check` lacks."""

from __future__ import annotations

from ...checking.error_kinds import (
    ALL_ZEROS,
    EDGES,
    FIRST_BLOCK,
    NOT_A_NUMBER,
    NOTHING_WRITTEN,
    OFF_BY_ONE,
    PARTLY_WRITTEN,
    PASS,
    PRECISION,
    REVERSED,
    SCALED,
    TRANSPOSED,
    UNINITIALISED,
    WRONG,
    WRONG_DTYPE,
    WRONG_SHAPE,
)
from ...checking.error_kinds import NEXT_STEP as CHECK_STEPS
from ...compiling.host_compilers import HOW_TO_GET
from ...emulator import (
    ASSERTION,
    BAD_TENSOR_MAP,
    BAD_TEXTURE,
    BARRIER,
    DATA_RACE,
    DEADLOCK,
    EMULATOR_ERROR,
    ENDLESS_LOOP,
    IN_FLIGHT,
    MISALIGNED,
    NULL_POINTER,
    OUT_OF_BOUNDS,
    TENSOR_MEMORY,
    TRAP,
    UNKNOWN_INSTRUCTION,
    USE_AFTER_FREE,
    Cause,
)
from ...emulator import KINDS as FAULTS
from ...host_programs.host_kinds import (
    COMPILE_ERROR,
    CRASHED,
    MEMORY_LEAK,
    NO_COMPILER,
    RESOURCE_LIMIT,
    STACK_OVERFLOW,
    TIME_LIMIT,
    UNDEFINED,
    WRONG_NAME,
)
from ...host_programs.host_kinds import NEXT_STEP as HOST_STEPS

__all__ = [
    "ALL_ZEROS",
    "ASSERTION",
    "BAD_TENSOR_MAP",
    "BAD_TEXTURE",
    "BARRIER",
    "CAUSE_STEPS",
    "COMPILE_ERROR",
    "COPIED",
    "CRASHED",
    "DATA_RACE",
    "DEADLOCK",
    "EDGES",
    "EMPTY",
    "EMULATOR_ERROR",
    "ENDLESS_LOOP",
    "EXCEPTION",
    "FIRST_BLOCK",
    "INPUT_CHANGED",
    "IN_C",
    "IN_FLIGHT",
    "IN_PYTHON",
    "KINDS",
    "LAUNCH_ERROR",
    "MEMORY_LEAK",
    "METHOD_MISSING",
    "MISALIGNED",
    "NOTHING_PRINTED",
    "NOTHING_RETURNED",
    "NOTHING_WRITTEN",
    "NOT_A_NUMBER",
    "NOT_HERE",
    "NOT_STARTED",
    "NO_COMPILER",
    "NO_PACKAGE",
    "NULL_POINTER",
    "OFF_BY_ONE",
    "ORDER",
    "OUR_FAULT",
    "OUT_OF_BOUNDS",
    "PARTLY_WRITTEN",
    "PASS",
    "PRECISION",
    "RESOURCE_LIMIT",
    "RESULTS",
    "REVERSED",
    "SCALED",
    "STACK_OVERFLOW",
    "SYNTAX_ERROR",
    "TARGET_MISSED",
    "TENSOR_MEMORY",
    "TIME_LIMIT",
    "TOO_SLOW",
    "TRANSPOSED",
    "TRAP",
    "UNDEFINED",
    "UNINITIALISED",
    "UNKNOWN_INSTRUCTION",
    "USE_AFTER_FREE",
    "WRONG",
    "WRONG_DTYPE",
    "WRONG_NAME",
    "WRONG_NUMBER",
    "WRONG_OUTPUT",
    "WRONG_SHAPE",
    "WRONG_SIGNATURE",
    "WRONG_TYPE",
]

NOT_STARTED = "not started"
EMPTY = "empty cell"
WRONG_SIGNATURE = "wrong signature"
LAUNCH_ERROR = "launch error"
INPUT_CHANGED = "input changed"
TARGET_MISSED = "target missed"
METHOD_MISSING = "method missing"
COPIED = "copied answer"
ORDER = "depends on the order"
TOO_SLOW = "too slow"
SYNTAX_ERROR = "syntax error"
EXCEPTION = "exception"
NOTHING_RETURNED = "nothing returned"
WRONG_TYPE = "wrong type"
WRONG_NUMBER = "wrong number"
NOTHING_PRINTED = "nothing printed"
WRONG_OUTPUT = "wrong output"
NO_PACKAGE = "no package"
OUR_FAULT = "our fault"

NOT_HERE = (NO_COMPILER, NO_PACKAGE)  # the machine lacks something: no answer is judged

RESULTS = tuple(CHECK_STEPS)
IN_PYTHON = (SYNTAX_ERROR, EXCEPTION, NOTHING_RETURNED, WRONG_TYPE, WRONG_NUMBER)
IN_C = (
    NOTHING_PRINTED,
    WRONG_OUTPUT,
    USE_AFTER_FREE,
    MEMORY_LEAK,
    STACK_OVERFLOW,
    UNDEFINED,
    RESOURCE_LIMIT,
    NO_COMPILER,
)
KINDS = (
    PASS,
    NOT_STARTED,
    EMPTY,
    COMPILE_ERROR,
    WRONG_NAME,
    WRONG_SIGNATURE,
    LAUNCH_ERROR,
    INPUT_CHANGED,
    TARGET_MISSED,
    METHOD_MISSING,
    ORDER,
    COPIED,
    TIME_LIMIT,
    TOO_SLOW,
    CRASHED,
    *IN_PYTHON,
    *IN_C,
    NO_PACKAGE,
    OUR_FAULT,
    *(kind for kind in FAULTS if kind not in IN_C and kind not in RESULTS),
    *RESULTS,
)

# The next step for a cause, where it is another than that for its kind.
CAUSE_STEPS = {
    Cause.LANE_NOT_IN_SHUFFLE: "A shuffle brings a value only from a lane that executes it, too: "
    "let all the lanes that its mask names reach it together, and put the if around what is done "
    "with the result.",
    Cause.REGISTER_READ_BEFORE_WAIT: "An asynchronous instruction fills these registers: the "
    "wait that the report names belongs before the first line that uses one of them.",
    Cause.WGMMA_FENCE_MISSING: "Put a wgmma.fence after the last line that sets a register of "
    "the accumulators, and before the first wgmma that adds to them.",
    Cause.TILE_STILL_READ: "Wait for the matrix instructions that read the tile, and only then "
    "signal that it may be overwritten.",
    Cause.TENSOR_MEMORY_FENCE_MISSING: "Every signalling thread executes tmem_before_sync "
    "between its work and its arrival or barrier. Every waiting thread executes tmem_after_sync "
    "after its wait.",
    Cause.TENSOR_MEMORY_WAIT_MISSING: "The report lists the two accesses in execution order. If "
    "that's the order you want, its last line names the missing wait. If you want the reverse, the "
    "first access needs a wait for the second.",
    Cause.COPY_SIGNALS_OTHER_BLOCK: "A copy signals an mbarrier of the block that it fills. With "
    ".cta_group::2 (tma_load_pair) it may also signal an mbarrier of the other block of the pair.",
    **dict.fromkeys(
        (Cause.PROXY_FENCE_MISSING, Cause.MBARRIER_INIT_FENCE_MISSING),
        "Let the fence follow the writes, in every thread that wrote, and precede the barrier "
        "after which one thread starts the copy.",
    ),
    Cause.COPY_NOT_AWAITED: "Wait for the copy to complete, as the report says, before any thread "
    "touches its bytes.",
    **dict.fromkeys(
        (
            Cause.MBARRIER_ARRIVALS_MISSING,
            Cause.MBARRIER_BYTES_MISSING,
            Cause.MBARRIER_BYTES_UNEXPECTED,
        ),
        "Compare the arrivals and the bytes that this mbarrier expects with those that come: "
        "which threads arrive, and how many bytes does each copy bring to this block?",
    ),
    Cause.WARP_INCOMPLETE: "All threads of the warp must execute it converged: move it out of any "
    "if that leaves some of them out, and put __syncwarp() after the single-thread part.",
    Cause.MBARRIER_TOO_MANY_ARRIVALS: "Each phase counts a fixed number of arrivals: a "
    "thread that begins the next phase waits for the stage before it arrives again.",
    **dict.fromkeys(
        (Cause.MBARRIER_NOT_INITIALISED, Cause.MBARRIER_INITIALISED_TWICE),
        "One thread initialises an mbarrier once, and a barrier of the block, or of the cluster, "
        "comes before others use it.",
    ),
    Cause.MBARRIER_COUNT_INVALID: "An mbarrier waits for 1 to 1,048,575 arrivals per phase: "
    "initialise it with the number of threads that arrive, or with 1 where a single thread does.",
    **dict.fromkeys(
        (Cause.EXPECTED_BYTES_NEVER_CAME, Cause.BYTES_NEVER_EXPECTED),
        "Compare the bytes that expect_tx expects with the bytes of the copies: they must be "
        "equal in each phase.",
    ),
    Cause.MBARRIER_OF_OTHER_BLOCK: "A thread waits only for an mbarrier in its own block. It may "
    "arrive at one of another block of the cluster, and that block waits for it.",
    Cause.LANE_NOT_IN_MASK: "The mask names every lane that executes the instruction, and no "
    "other: take it from __ballot_sync before the branch, or let all 32 lanes execute it.",
    **dict.fromkeys(
        (Cause.BARRIER_COUNT_INVALID, Cause.BARRIER_COUNTS_DIFFER),
        "A named barrier counts whole warps: give every thread that arrives or waits there the "
        "same number of threads, a multiple of 32.",
    ),
    Cause.WARPGROUP_INCOMPLETE: "A wgmma is executed by the four warps of a warpgroup together: "
    "branch by threadIdx.x / 128, never inside a warpgroup.",
    Cause.CLUSTER_WAIT_WITHOUT_ARRIVAL: "Each thread arrives before it waits: cluster_arrive() and "
    "then cluster_wait(), in every thread of the cluster.",
    Cause.BLOCK_NOT_STARTED: "A block reaches into another after a barrier of the cluster: "
    "cluster_arrive() and then cluster_wait().",
    **dict.fromkeys(
        (Cause.NO_ORDER_IN_CLUSTER, Cause.BLOCK_MAY_END, Cause.BLOCK_HAS_ENDED),
        "Between blocks of a cluster only a barrier of the cluster makes an order: "
        "cluster.sync(), or cluster_arrive() and then cluster_wait(). Where both write, give each "
        "its own element.",
    ),
}

NEXT_STEP: dict[str, str] = {
    **CHECK_STEPS,
    **HOST_STEPS,
    NOT_STARTED: "Fill in what the TODO comments ask for, then run the cell.",
    EMPTY: 'Bring the starter back with reset("{id}").',
    WRONG_NAME: "Keep the starter's name: the checker calls it by that name.",
    WRONG_SIGNATURE: "Take the parameter list from the starter: exactly those are passed.",
    LAUNCH_ERROR: "Compare the kernel's demands with the launch in the comment at its top.",
    INPUT_CHANGED: "Write only to the output: const in the parameter list lets the compiler "
    "catch this.",
    TARGET_MISSED: "The result is right; now make it faster.",
    METHOD_MISSING: "The result is right. The task names the method that it asks for.",
    COPIED: "Write your own; when it passes, compare it with the course's.",
    ORDER: "A GPU runs blocks and warps in any order. What one thread writes and another reads "
    "needs a barrier between the two (__syncwarp within a warp, __syncthreads within a block); a "
    "shuffle names all the lanes that take part, not those that happen to be active.",
    TOO_SLOW: "No loop is endless: count how often each thread runs its loops, and look for work "
    "that one pass could do.",
    CRASHED: "Run it on the emulator, which names the line.",
    OUT_OF_BOUNDS: "Does that thread own an element? If not, guard the access with a comparison; "
    "if so, its index or the end of its loop is wrong.",
    MISALIGNED: "A vector access needs an address that is a multiple of its size, a copy by TMA "
    "one of 16 bytes.",
    DATA_RACE: "Two threads access one location, and nothing orders them: give each its own "
    "element. If both have to use it, a barrier between the two lines orders them: __syncwarp() "
    "the lanes of a warp, __syncthreads() the threads of a block. Across blocks, or where one line "
    "reads and writes, it takes an atomic.",
    IN_FLIGHT: "A block must not end while one of its copies is in flight, even if no thread reads "
    "the bytes: wait for all copies after the loop.",
    ENDLESS_LOOP: "Check that the loop's variable changes, and in the right direction.",
    DEADLOCK: "Some threads are waiting for threads that will never arrive.",
    BARRIER: "Every thread of the block must reach each __syncthreads(): move it out of the if, "
    "and let no thread return before it.",
    ASSERTION: "An assert in the kernel does not hold: see its line.",
    TRAP: "The kernel stopped itself with a trap.",
    BAD_TENSOR_MAP: "Compare the tensor map with what the instruction asks of it.",
    BAD_TEXTURE: "Compare the object, and the array it was made of, with what the function reads.",
    TENSOR_MEMORY: "Compare the address, the descriptor or the number with what the report says.",
    UNKNOWN_INSTRUCTION: "The emulator cannot run this yet; on a GPU it would.",
    EMULATOR_ERROR: "This is a mistake of the course, not yours. Please report it with your cell.",
    SYNTAX_ERROR: "Python stops at the first place it cannot read; the mistake is there or just "
    "before.",
    EXCEPTION: "Read the last line first: it says what Python could not do.",
    NOTHING_RETURNED: "This case returned without a value. End every path through the function "
    "with `return value`.",
    WRONG_TYPE: "Compare the type you return with the one expected: integers stay integers "
    "with //, int() and float() convert, and several results are returned as the task shows them.",
    WRONG_NUMBER: "Begin with the smallest case that you can count by hand.",
    NOTHING_PRINTED: "Print the result with printf, and end the line with \\n.",
    WRONG_OUTPUT: "Follow the first wrong line back to the statement that printed it.",
    NO_COMPILER: HOW_TO_GET,
    NO_PACKAGE: "For Triton run %pip install triton in a cell (Linux, 1 GB), for PyTorch make "
    "torch in a terminal; then restart the kernel.",
    OUR_FAULT: "This is a mistake of the course, not yours. Please report it with your cell.",
}
