"""The next step for a finding: one table, by cause and by kind, for everything that reports."""

from __future__ import annotations

from .causes import Cause
from .language_steps import LANGUAGE_STEPS
from .report import (
    ASSERTION,
    BAD_TENSOR_MAP,
    BAD_TEXTURE,
    BARRIER,
    DATA_RACE,
    DEADLOCK,
    EMULATOR_ERROR,
    ENDLESS_LOOP,
    IN_FLIGHT,
    LAUNCH_CONTROL,
    LAUNCH_REFUSED,
    MISALIGNED,
    NULL_POINTER,
    OUT_OF_BOUNDS,
    TENSOR_MEMORY,
    TRAP,
    UNINITIALISED,
    UNKNOWN_INSTRUCTION,
    USE_AFTER_FREE,
    Finding,
)

KIND_STEPS: dict[str, str] = {
    OUT_OF_BOUNDS: "Does this thread own an element? If not, guard the access: if (i < n). If it "
    "does, work out its index by hand for the thread that the report names.",
    MISALIGNED: "Make the byte offset a multiple of the access's size. Of a row's start, that "
    "takes a row length that is one, too: if it isn't, is it this array's own row length?",
    NULL_POINTER: "Follow the pointer back to where it gets its address: does every path give it "
    "one?",
    USE_AFTER_FREE: "Free it after its last use. In Python keep the array in a variable until the "
    "kernel has run: an address (x.data.ptr) doesn't keep it alive.",
    UNINITIALISED: "Give every variable and every element a value before it is read. Shared "
    "memory and cp.empty(...) hold nothing useful before you write them.",
    DATA_RACE: "Same block: __syncthreads() between the two. Different blocks: no barrier helps, "
    "so use a second array, a second launch or an atomic. A copy in flight: wait for the copy.",
    IN_FLIGHT: "A block must not end while one of its copies is in flight, even if no thread reads "
    "the bytes: wait for all copies after the loop.",
    ENDLESS_LOOP: "Check that the loop's variable changes, and in the right direction.",
    DEADLOCK: "Some threads are waiting for threads that will never arrive: let all of them reach "
    "the same barrier, or none.",
    BARRIER: "Every thread of the block must reach each __syncthreads(): move it out of the if, "
    "and let no thread return before it.",
    ASSERTION: "Print the values that the assertion compares, just before it.",
    TRAP: "The kernel stopped itself: look at what it checks just before that line.",
    BAD_TENSOR_MAP: "Compare the tensor map with what the instruction needs.",
    BAD_TEXTURE: "Compare the object, and the array it was made of, with what the function reads.",
    LAUNCH_REFUSED: "Launch with a shape that a GPU takes.",
    TENSOR_MEMORY: "Compare the address, the descriptor or the number with the rule in the report.",
    LAUNCH_CONTROL: "Ask, wait for the mbarrier, then is_canceled, and only then the index.",
    UNKNOWN_INSTRUCTION: "The emulator can't run this yet. A GPU can.",
    EMULATOR_ERROR: "This is a mistake of the emulator, not yours. Please report it with your "
    "kernel.",
}

_BLOCKS_APART = (
    "A barrier reaches only its own block. If a block needs what another block wrote, use a second "
    "launch,"
)
_FROM_BEFORE = (
    "If it needs the value from before the launch, read from one array and write to another."
)
_FIRST_READ = "If one line does both, read into a variable first, then the barrier, then write."

# The next step for a cause, if it differs from the step for its kind.
CAUSE_STEPS: dict[Cause, str] = {
    Cause.OUTSIDE_ARRAY_GUARDED: "An `if` or a loop limits this index already: compare its "
    "limit with the size of this very array, and the index in the condition with the one in [ ].",
    Cause.OUTSIDE_ARRAY_COMPUTED: "Does that element exist? At an edge it may not: guard the "
    "access, at both ends. If it does, work out the index by hand for the thread that the report "
    "names: which is too large, a stride, an extent of another array, a loop's variable?",
    Cause.OUTSIDE_SHARED_ARRAY: "Compare the size with the declaration, and work out each index "
    "in [ ] for the thread that the report names: which of them reaches its extent?",
    Cause.VECTOR_MISALIGNED: "Make the offset and the row length multiples of 4 floats for a "
    "float4 (2 for a float2), or load single elements.",
    Cause.INDEX_OVERFLOW: "Make one factor 64 bits wide before you multiply: "
    "static_cast<size_t>(row) * width + column.",
    Cause.INDEX_BELOW_ZERO: "An unsigned index is never below 0: compare before you subtract, such "
    "as i >= 1 before x[i - 1].",
    Cause.NUMBERS_AS_ADDRESS: "Take one flat array, float *, with the index row * width + column. "
    "A float ** needs a table of device pointers.",
    Cause.HOST_ADDRESS: "Copy the data to the device first, with cp.asarray(...) or cudaMemcpy, "
    "and pass that array.",
    Cause.ADDRESS_NOT_ALLOCATED: "This address was never allocated. Where does the pointer get its "
    "value?",
    Cause.DYNAMIC_SHARED_TOO_SMALL: "Compare the bytes of the launch (shared_mem=, or the third "
    "value in <<<>>>) with the elements used times sizeof(element).",
    Cause.SHARED_ARRAYS_OVERLAP: "Declare one extern __shared__ array, give the launch the bytes "
    "of both, and let the second begin after the first: float* b = a + n.",
    Cause.COPY_OUTSIDE_ARRAY: "Compare the copy's byte count with what's left of the array.",
    Cause.OUTSIDE_SURFACE: "Compare the row and the byte offset with the array's height and width.",
    Cause.OUTSIDE_ALLOCATED_COLUMNS: "Allocate more columns, or compute the column from the "
    "allocation's base address.",
    Cause.COPY_MISALIGNED: "Declare the shared array alignas(128), and make the copy's byte count "
    "and each byte offset a multiple of 16.",
    Cause.TILE_MISALIGNED: "Declare the tile __align__(1024): a swizzle of 128 bytes repeats "
    "every 1024. A tile within a larger array also starts at a multiple of that.",
    Cause.TILE_OFFSET_MISALIGNED: "The offset of the tile is wrong, not its array's alignment. A "
    "descriptor counts its address in units of 16 bytes: 16 columns of 2 bytes further are 32 "
    "bytes, so add 2. Another tile in the same array starts at a multiple of 1024 bytes.",
    Cause.SURFACE_MISALIGNED: "Multiply the column by sizeof(element).",
    Cause.FREED_TWICE: "Free memory once, after its last use.",
    Cause.NOT_FROM_MALLOC: "Pass free() exactly the address that malloc() returned.",
    Cause.MEMORY_NOT_INITIALISED: "Which line should have written this element, and does it run "
    "before the read? Shared memory and cp.empty(...) hold nothing useful before you write them.",
    Cause.READ_BEFORE_WRITE: "Put a barrier after the write and before the read, where every "
    "thread that takes part reaches it.",
    Cause.VARIABLE_NOT_INITIALISED: "Give the variable a value where you declare it, 0 for a sum.",
    Cause.LANE_NOT_IN_SHUFFLE: "A shuffle brings a value only from a lane that executes it, too: "
    "let all the lanes that its mask names reach it together, and put the if around what is done "
    "with the result.",
    Cause.NO_ORDER_IN_WARP: "Put a barrier between the two accesses: __syncwarp() if the lanes of "
    "one warp share the element, __syncthreads() if threads of several warps do. "
    f"{_FIRST_READ}",
    Cause.NO_ORDER_IN_BLOCK: "Put __syncthreads() between the two accesses, where every thread of "
    f"the block reaches it. {_FIRST_READ}",
    Cause.NO_ORDER_BEFORE_WGMMA: "Each thread that wrote executes fence.proxy.async, then all 128 "
    "meet at a barrier (__syncthreads()), then the wgmma.",
    Cause.NO_ORDER_IN_GRID: f"{_BLOCKS_APART} or a flag with fences, which atomics write and read "
    f"(atomicExch, cuda::atomic_ref). {_FROM_BEFORE}",
    Cause.NO_ORDER_IN_CLUSTER: "__syncthreads() reaches only its own block. Between blocks of a "
    "cluster use cluster.sync(), which is cluster_arrive() and then cluster_wait(), or an mbarrier "
    "that one side arrives at (or a copy completes on) and the other waits for.",
    **dict.fromkeys(
        (Cause.BLOCK_MAY_END, Cause.BLOCK_HAS_ENDED),
        "Put cluster.sync() at the end of the kernel: no block may end while another still uses "
        "its shared memory.",
    ),
    Cause.RANK_NOT_IN_CLUSTER: "Ranks go from 0 to the cluster's size - 1. What cluster size does "
    "the launch give?",
    Cause.UPDATE_NOT_ATOMIC: "No barrier helps here. Let an atomic do the whole update, such as "
    "atomicAdd or atomicMax. Or give each thread its own result, and combine them by a reduction.",
    Cause.TEST_NOT_ATOMIC: "No barrier helps here. Let one atomic do both, the test and the store, "
    "and look at its result: if (atomicCAS(&x[i], old, new) == old). For the largest or the "
    "smallest value that's atomicMax or atomicMin.",
    Cause.READ_BESIDE_ATOMIC: "Leave the read out, and use the value that the atomic returns, the "
    "one from before its update: slot = atomicAdd(count, 1). atomicMax and atomicMin compare by "
    "themselves.",
    Cause.LOCK_NOT_ATOMIC: "One atomic finds the lock free and takes it: while (atomicCAS(lock, "
    "0, 1) != 0). Then come __threadfence(), the work, __threadfence(), and atomicExch(lock, 0).",
    Cause.LOCK_NOT_FENCED: "Put __threadfence() right after the loop that takes the lock, and "
    "another right before atomicExch frees it.",
    Cause.UPDATE_OF_ONE_INDEX: "Is each thread meant to have an element of its own? Then work out "
    "the index for both threads: the two must differ. If they share it on purpose, an atomic does "
    "the whole update (atomicAdd), or each has its own result and a reduction combines them.",
    Cause.WRITTEN_BY_ALL: "Let one thread write it, the one that has the right value: "
    "if (threadIdx.x == 0). Or is the index missing?",
    Cause.OWN_VALUES_WRITTEN_BY_ALL: "If the element combines the values of all threads, as a sum "
    "or a product does, the whole update is one atomic step, from the read to the write: "
    "atomicAdd, atomicMax, or a loop around atomicCAS. If not, is the index missing, or should one "
    "thread alone write it?",
    Cause.SAME_INDEX_COUNTED: "The index is made of values that were loaded or counted: work it "
    "out for both threads. If it's a position, does each count the elements before its own? One "
    "drawn from a counter is the result of the atomic: slot = atomicAdd(count, 1).",
    Cause.SAME_ELEMENT_WRITTEN: "Work out the index for both threads: does it use everything that "
    "tells them apart, such as threadIdx, blockIdx or an image's number, and is a row as long as "
    "this array's rows? If the value is the same for all, let one thread write it. If it adds up "
    "all of theirs, use atomicAdd or a reduction.",
    Cause.SAME_ELEMENT_IN_TURN: "Work out the index for both threads: should each have its own "
    "place? A barrier can't help then. If both are meant to store there, one after the other, a "
    "barrier comes in between.",
    Cause.LOOP_WAITS_FOR_WRITE: "Let both sides use atomics: atomicExch to write and atomicAdd(p, "
    "0) to read, or cuda::atomic_ref. Lanes of one warp need no loop: a shuffle passes a value on.",
    Cause.FLAG_NOT_FENCED: "The writer stores its data, executes __threadfence(), then sets the "
    "flag. The reader reads the flag, executes __threadfence(), then loads the data.",
    Cause.FLAG_IN_BLOCK_NOT_FENCED: "The writer stores its data, executes __threadfence_block(), "
    "then sets the flag. The reader reads the flag, executes __threadfence_block(), then loads.",
    Cause.FLAG_BARRIER_MISSING: "One thread sets the flag for its whole block, and a fence covers "
    "only what this thread knows of. So a barrier of the block comes first, then the fence and the "
    "flag.",
    Cause.FLAG_WAIT_NOT_SHARED: "One thread waits for the flag, and the others of its block go on. "
    "A barrier of the block after the wait holds them as well.",
    Cause.FLAG_SET_TOO_EARLY: "Store the data first. If several threads of the block store, a "
    "barrier comes next. Then the fence, and the flag last.",
    Cause.FLAG_WAIT_TOO_LATE: "Wait for the flag first, and only then read its data.",
    Cause.FLAG_WAIT_TOO_SHORT: "Which value does the flag have once that access is done? The wait "
    "has to last until then: compare both sides for the first rounds, such as < with <=. A barrier "
    "of the block doesn't help, since the two are in different branches.",
    Cause.MBARRIER_NOT_BETWEEN: "The first thread arrives at a barrier after its access, and the "
    "second waits there before its own. Is one of the two missing? Or does the barrier open too "
    "early: does it count fewer arrivals than there are threads that arrive or wait, or is the "
    "wait for a phase that is over?",
    Cause.TURN_NOT_PASSED: "Which warps does each barrier.arrive let go on, and is it their turn? "
    "Follow the numbers of the barriers from the first access to the second. A barrier of the "
    "block helps only where all its threads come by.",
    Cause.SCOPE_TOO_NARROW: "Threads of several blocks need an atomic of the device's scope: "
    "atomicAdd without _block, or cuda::thread_scope_device.",
    Cause.ARRIVAL_RELAXED: "An arrival that hands over data must release it: leave out .relaxed.",
    Cause.MBARRIER_SCOPE_TOO_NARROW: "Arrive with mbarrier.arrive.release.cluster, and wait with "
    "mbarrier.try_wait.acquire.cluster.",
    Cause.ARRIVAL_OF_OTHER_LANE: (
        "An arrival or a fence of one lane orders that lane's own accesses. Let the lanes of the "
        "warp meet right before it."
    ),
    Cause.COPY_NOT_AWAITED: "Wait for the copy to complete, as the report says, before any thread "
    "touches its bytes.",
    Cause.COPY_OVERWRITES: "Which stage does that copy fill? It takes one that all threads have "
    "done with, such as the one read in the step before: work out both stages for the first step.",
    Cause.GROUP_NOT_COMMITTED: "Commit before you wait: a wait covers only groups, and the copies "
    "since the last commit become one by cp.async.commit_group (cp_async_commit()).",
    Cause.GROUP_LEFT_IN_FLIGHT: "Let the wait leave fewer groups in flight: as many as the thread "
    "has committed after the group that it's about to use, and no more.",
    Cause.NO_GROUP_EACH_TIME: "Let every thread commit once in each step, even in one that starts "
    "no copy: an empty group also counts. So move the commit out of the if.",
    Cause.COPY_COMPLETION_NOT_SEEN: "Let every thread that touches its bytes wait for the copy's "
    "mbarrier. Or let one thread wait, and put __syncthreads() after its wait. For a copy of a "
    "group, that is the thread that started it.",
    Cause.COPIES_OVERLAP: "Two blocks write the same elements: compare the coordinates of their "
    "tiles, and give each block its own.",
    Cause.TILE_STILL_READ: "Wait for the matrix instructions that read the tile, and only then "
    "signal that it may be overwritten.",
    Cause.REGISTER_READ_BEFORE_WAIT: "An asynchronous instruction fills these registers: the "
    "wait that the report names belongs before the first line that uses one of them.",
    Cause.WGMMA_FENCE_MISSING: "Put a wgmma.fence after the last line that sets one of the wgmma's "
    "registers, an accumulator or operand A's, and before that wgmma.",
    **dict.fromkeys(
        (Cause.PROXY_FENCE_MISSING, Cause.MBARRIER_INIT_FENCE_MISSING),
        "Let the fence follow the writes, in every thread that wrote, and precede the barrier "
        "after which one thread starts the copy.",
    ),
    Cause.TENSOR_MEMORY_FENCE_MISSING: "Every signalling thread executes tmem_before_sync "
    "between its work and its arrival or barrier. Every waiting thread executes tmem_after_sync "
    "after its wait.",
    Cause.TENSOR_MEMORY_WAIT_MISSING: "The report lists the two accesses in execution order. If "
    "that's the order you want, its last line names the missing wait. If you want the reverse, the "
    "first access needs a wait for the second.",
    Cause.TENSOR_MEMORY_BARRIER_MISSING: "Let one thread issue both: they then run in the order in "
    "which it issues them. Otherwise the first thread executes tmem_before_sync and arrives at a "
    "barrier, and the second waits for that and executes tmem_after_sync.",
    Cause.SYNCWARP_NOT_REACHED: "Let every lane that the mask names reach this line: move it out "
    "of the if. Or take the mask from __ballot_sync before the branch.",
    Cause.BARRIER_NOT_REACHED: "Move the barrier out of the if, and let no thread return before "
    "it. Is the condition meant to be the same for all? Then its value goes through shared "
    "memory: one thread stores it, and all read it after a barrier.",
    Cause.BARRIERS_DIFFER: "All threads of a block wait at the same barrier: take both out of the "
    "branches, and put one after them.",
    Cause.THREADS_RETURNED: "Keep all threads up to the barrier, even those without work: instead "
    "of a return, put an if around the work before the barrier and another around the work after "
    "it, never around the barrier. Is the condition meant to be the same for all? Then its value "
    "goes through shared memory.",
    **dict.fromkeys(
        (Cause.BARRIER_TOO_MANY_THREADS, Cause.BARRIER_NOT_COMPLETED),
        "Give the barrier the number of threads that arrive at it, or let as many arrive as it "
        "counts.",
    ),
    Cause.BARRIER_NUMBER_INVALID: "Choose a number from 1 to 15: barrier 0 is __syncthreads().",
    Cause.EXPECTED_NOT_RENEWED: "If the loop updates the element, take the value that "
    "atomicCAS returned as the new expected one, and compute the update from it: seen = before. If "
    "the loop waits for a lock, does the thread that holds it give it back, and can that thread "
    "run?",
    Cause.COUNTER_PASSED: "Wait with < until a counter has reached the number: others go on "
    "counting, and a loop that waits for equality can miss the moment.",
    Cause.STEP_BUDGET_EXCEEDED: "Check that the loop's variable changes, and in the right "
    "direction. If it waits for another thread, does any thread set the flag, and can that thread "
    "run?",
    Cause.VALUES_COME_BACK: "Work out two rounds by hand for the thread that the report names: "
    "which variable should have come closer to the end? If the loop waits for another thread, does "
    "any thread set the flag, and can that thread run?",
    Cause.ENDLESS_RECURSION: "Give the recursion a case in which the function doesn't call itself.",
    Cause.BLOCK_NOT_STARTED: "Call cluster.sync(), which is cluster_arrive() and then "
    "cluster_wait(), before you touch another block's shared memory.",
    Cause.CLUSTER_WAIT_WITHOUT_ARRIVAL: "Each thread arrives before it waits: cluster_arrive() and "
    "then cluster_wait(), in every thread of the cluster.",
    Cause.SHUFFLE_NOT_REACHED: "Move it out of the if, so that all lanes of its mask reach it, and "
    "put the if around what is done with the result. Or take the mask from __ballot_sync before "
    "the branch.",
    Cause.ITERATIONS_DIFFER: "The loop has more iterations for some threads than for others. Give "
    "all of them the same number, such as for (int base = 0; base < n; base += 32), and let an if "
    "inside it decide which of them load and store.",
    Cause.WARP_INCOMPLETE: "All threads of the warp must execute it converged: move it out of any "
    "if that leaves some of them out, and put __syncwarp() after the single-thread part.",
    Cause.WARPGROUP_MISSING_WARPS: "Launch a multiple of 128 threads.",
    Cause.WARPGROUP_INCOMPLETE: "A wgmma is executed by the four warps of a warpgroup together: "
    "branch by threadIdx.x / 128, never inside a warpgroup.",
    Cause.LANE_NOT_IN_MASK: "The mask names every lane that executes the instruction, and no "
    "other: take it from __ballot_sync before the branch, or let all 32 lanes execute it.",
    **dict.fromkeys(
        (Cause.BARRIER_COUNT_INVALID, Cause.BARRIER_COUNTS_DIFFER),
        "A named barrier counts whole warps: give every thread that arrives or waits there the "
        "same number of threads, a multiple of 32.",
    ),
    **dict.fromkeys(
        (Cause.MBARRIER_NOT_INITIALISED, Cause.MBARRIER_INITIALISED_TWICE),
        "One thread initialises an mbarrier once, and a barrier of the block, or of the cluster, "
        "comes before others use it.",
    ),
    Cause.MBARRIER_COUNT_INVALID: "An mbarrier waits for 1 to 1,048,575 arrivals per phase: "
    "initialise it with the number of threads that arrive, or with 1 for a single thread.",
    Cause.MBARRIER_TOO_MANY_ARRIVALS: "Each phase counts a fixed number of arrivals: a "
    "thread that begins the next phase waits for the stage before it arrives again.",
    Cause.MBARRIER_OF_OTHER_BLOCK: "A thread waits only for an mbarrier in its own block. It may "
    "arrive at one of another block of the cluster, and that block waits for it.",
    **dict.fromkeys(
        (
            Cause.MBARRIER_ARRIVALS_MISSING,
            Cause.MBARRIER_BYTES_MISSING,
            Cause.MBARRIER_BYTES_UNEXPECTED,
        ),
        "Compare the arrivals and the bytes that this mbarrier expects with those that come: "
        "which threads arrive, and how many bytes does each copy bring to this block?",
    ),
    **dict.fromkeys(
        (Cause.EXPECTED_BYTES_NEVER_CAME, Cause.BYTES_NEVER_EXPECTED),
        "Compare the bytes that expect_tx expects with the bytes of the copies: they must be "
        "equal in each phase.",
    ),
    Cause.CONDITION_NEVER_CHANGES: "Does the loop change a variable of its condition? If another "
    "thread changes it, each round must read it from memory: volatile, or an atomic.",
    Cause.COLUMN_COUNT_INVALID: "Ask for 32, 64, 128, 256 or 512 columns.",
    Cause.COLUMNS_NOT_ALLOCATED: "Free the address that tcgen05.alloc returned, with as many "
    "columns as it allocated, and only once.",
    Cause.ALLOCATION_RELINQUISHED: "Allocate everything before tcgen05.relinquish_alloc_permit.",
    Cause.COLUMNS_INCREASE: "Allocate the largest number of columns first.",
    Cause.CTA_GROUPS_MIXED: "Give every tcgen05 instruction of the kernel the same .cta_group.",
    Cause.ANSWER_TO_OTHER_BLOCK: "Pass addresses of the block's own shared memory. For the other "
    "blocks of a cluster there is .multicast::cluster::all.",
    Cause.CANCEL_AFTER_REFUSAL: "End the loop at the first refusal: a thread that asks ahead looks "
    "at the answer before it asks again.",
    Cause.INDEX_OF_REFUSAL: "Branch on is_canceled, and take the index only where it's true.",
    Cause.QUERY_OF_NO_ANSWER: "Wait for the mbarrier with the parity of this request, and load the "
    "16 bytes after the wait.",
    Cause.LANES_OF_OTHER_WARP: "Warp w reaches the 32 lanes from 32 * (w % 4) on: add these to the "
    "address, << 16.",
    Cause.ISSUED_BY_SEVERAL_THREADS: "Let one thread of the warp issue it, such as the one that "
    "elect.sync chooses.",
    Cause.COLUMNS_NOT_FREED: "Let the warp that allocated execute tcgen05.dealloc on every path.",
    Cause.BLOCKS_NOT_RESIDENT: "Which block writes the value that all wait for? If none does, no "
    "launch helps. If it's one that hasn't started, launch no more blocks than fit at once, and "
    "let each do more of the work in a loop. Or end the kernel where the blocks have to meet, and "
    "launch a second one.",
    Cause.LAUNCH_NOT_COOPERATIVE: "Make the launch cooperative, as the report says, or end the "
    "kernel where the grid has to meet and launch a second one.",
    Cause.FUNCTION_NOT_DEFINED: "Put the function's source into the file, or into a header that "
    "it includes: one file is compiled at a time.",
    Cause.KERNEL_LAUNCHES_KERNEL: "Launch from the host what that function is needed for, or "
    "make the code of the second kernel a __device__ function and call it.",
    Cause.CHILD_LAUNCH_REFUSED: "Launch with a shape that a GPU takes, and ask for each "
    "launch's error with cudaGetLastError().",
    Cause.CHILD_LAUNCHES_PENDING: "Let one thread launch one large grid, instead of each thread a "
    "small one.",
    Cause.CHILD_GETS_OWN_MEMORY: "Pass values, or the address of an array that the host or "
    "malloc() has allocated.",
    Cause.COPY_SIGNALS_OTHER_BLOCK: "A copy signals an mbarrier of the block that it fills. With "
    ".cta_group::2 (tma_load_pair) it may also signal an mbarrier of the other block of the pair.",
}

# The same where a task forbids atomics.
WITHOUT_ATOMICS: dict[Cause | str, str] = {
    DATA_RACE: "Same block: __syncthreads() between the two. Different blocks: no barrier helps, "
    "so use a second array or a second launch. A copy in flight: wait for the copy.",
    Cause.NO_ORDER_IN_GRID: f"{_BLOCKS_APART} or a flag with fences. {_FROM_BEFORE}",
    Cause.LOOP_WAITS_FOR_WRITE: "Replace the loop that waits: a barrier that all threads reach, or "
    "a shuffle, passes the value on.",
    Cause.CONDITION_NEVER_CHANGES: "Does the loop change a variable of its condition? If another "
    "thread changes it, each round must read it from memory: declare it volatile.",
    Cause.UPDATE_OF_ONE_INDEX: "Is each thread meant to have an element of its own? Then work out "
    "the index for both threads: the two must differ. If they share it on purpose, give each its "
    "own result, and combine them by a reduction.",
    Cause.OWN_VALUES_WRITTEN_BY_ALL: "If the element combines the values of all threads, give each "
    "its own element, and combine the elements after a barrier, by a reduction. If not, is the "
    "index missing, or should one thread alone write it?",
    Cause.SAME_INDEX_COUNTED: "The index is made of values that were loaded or counted: work it "
    "out for both threads. If it's a position, does each count the elements before its own?",
    Cause.SAME_ELEMENT_WRITTEN: "Work out the index for both threads: does it use all of threadIdx "
    "and blockIdx that differs, and is a row as long as this array's rows? If the value is the "
    "same for all, let one thread write it. If it adds up all of theirs, use a reduction.",
    Cause.LOCK_NOT_ATOMIC: "Leave the lock out: give each thread its own element, and combine the "
    "elements after a barrier, by a reduction.",
    Cause.TEST_NOT_ATOMIC: "No barrier helps here. Let one thread test and store for all, or give "
    "each thread its own element, and combine the elements after a barrier.",
    Cause.UPDATE_NOT_ATOMIC: "No barrier helps here. Give each thread its own element, and combine "
    "the elements after a barrier, by a reduction or a scan.",
}


def next_step(finding: Finding, *, atomics: bool = True) -> str:
    """The next step for a finding, in one to three sentences and in the words of its kernel's
    language. ``atomics``: whether a kernel of CUDA C++ may use them."""
    other = LANGUAGE_STEPS[finding.language] or ({} if atomics else WITHOUT_ATOMICS)
    of_cause = other.get(finding.cause) or CAUSE_STEPS.get(finding.cause)
    return of_cause or other.get(finding.kind) or KIND_STEPS[finding.kind]
