"""The next step for a finding in a kernel of Triton, Numba or Warp, in that language's words.

A cause without an entry has the step of :mod:`.next_steps`, which then names nothing of CUDA C++.
"""

from __future__ import annotations

from .causes import Cause
from .language_words import Language
from .report import BARRIER, DATA_RACE, OUT_OF_BOUNDS, UNINITIALISED

Steps = dict[Cause | str, str]

_FROM_BEFORE = (
    "If it needs the value from before the launch, read from one array and write to another."
)
_FIRST_READ = "If one line does both, read into a variable first, then the barrier, then write."

_CHANGES = (
    "Does the loop change a variable of its condition? If another thread changes it, each round "
    "must read it from memory, by an atomic."
)

_RENEW = (
    "If the loop updates the element, take what the compare-and-swap returned as the new expected "
    "value, and compute the new one from it. If the loop waits for a lock, is the lock given back?"
)

_TRITON_MASK = "mask=i < n in the tl.load or tl.store"
_TRITON_APART = (
    "Programs run in any order, and no barrier reaches two of them. If one needs the results of "
    "another, use a second launch."
)
_TRITON_ATOMIC = (
    "Let an atomic do the whole update: tl.atomic_add(pointer, value). Or let each program store "
    "its own result at tl.program_id(0), and combine the results in a second launch."
)
_TRITON_ORDER = (
    "A tensor that stays in registers needs no barrier. If the values have to go through memory, "
    "put tl.debug_barrier() between the store and the load."
)

TRITON: Steps = {
    Cause.CONDITION_NEVER_CHANGES: _CHANGES,
    Cause.EXPECTED_NOT_RENEWED: _RENEW,
    OUT_OF_BOUNDS: "Does this offset have an element? If not, leave it out: "
    f"{_TRITON_MASK}. If it does, work it out by hand from tl.program_id and tl.arange.",
    Cause.OUTSIDE_ARRAY_GUARDED: "A mask or a loop limits this offset already: compare its limit "
    "with the size of this very array, and the offsets it tests with those that are used.",
    Cause.OUTSIDE_ARRAY_COMPUTED: "Does this line have a mask? Leave out the offsets that have no "
    f"element: {_TRITON_MASK}. If it has one, work out the offset by hand from tl.program_id and "
    "tl.arange. What is too large?",
    Cause.INDEX_OVERFLOW: "Make one factor 64 bits wide before you multiply: "
    "tl.program_id(0).to(tl.int64) * stride + column.",
    Cause.INDEX_BELOW_ZERO: "Let the mask test both ends: mask=(i >= 0) & (i < n).",
    Cause.VECTOR_MISALIGNED: "tl.multiple_of and tl.max_contiguous are promises: does the number "
    "keep the one that this line makes?",
    Cause.HOST_ADDRESS: "Pass the array itself: a NumPy array here, a tensor on the GPU there. An "
    "address as an integer has no memory on the device.",
    UNINITIALISED: "Which program should have written this element, and in an earlier launch? "
    "Programs of one launch run in any order.",
    Cause.MEMORY_NOT_INITIALISED: "Which program should have written this element, and in an "
    "earlier launch? torch.empty(...) and np.empty(...) hold nothing useful before that.",
    Cause.READ_BEFORE_WRITE: f"{_TRITON_APART} In one program, put tl.debug_barrier() between the "
    "store and the load.",
    DATA_RACE: f"{_TRITON_APART} {_FROM_BEFORE}",
    Cause.NO_ORDER_IN_WARP: _TRITON_ORDER,
    Cause.NO_ORDER_IN_BLOCK: _TRITON_ORDER,
    Cause.NO_ORDER_IN_GRID: f"{_TRITON_APART} {_FROM_BEFORE}",
    Cause.UPDATE_NOT_ATOMIC: f"No barrier helps here. {_TRITON_ATOMIC}",
    Cause.TEST_NOT_ATOMIC: "No barrier helps here. Let one atomic do both, the test and the store: "
    "tl.atomic_cas returns the value that was there. For the largest or the smallest value that's "
    "tl.atomic_max or tl.atomic_min.",
    Cause.READ_BESIDE_ATOMIC: "Leave the load out, and use the value that the atomic returns, the "
    "one from before its update: slot = tl.atomic_add(pointer, 1).",
    Cause.UPDATE_OF_ONE_INDEX: "Is each program meant to have its own elements? Then work out "
    "the offset for both: the two must differ. If they share the element on purpose, "
    f"{_TRITON_ATOMIC[0].lower()}{_TRITON_ATOMIC[1:]}",
    Cause.OWN_VALUES_WRITTEN_BY_ALL: "If the element combines the values of all programs, the "
    "whole update is one atomic step: tl.atomic_add(pointer, value). If not, is tl.program_id "
    "missing from the offset, or should one program alone write it?",
    Cause.WRITTEN_BY_ALL: "Let one program write it: if tl.program_id(0) == 0. Or is "
    "tl.program_id missing from the offset?",
    Cause.SAME_INDEX_COUNTED: "The offset is made of values that were loaded or counted: work it "
    "out for both. If it's a position, tl.atomic_add returns one that no other program gets.",
    Cause.SAME_ELEMENT_WRITTEN: "Work out the offset for both: does it use tl.program_id, "
    "multiplied by the number of elements that a program stores? If the value is the same for all, "
    "let one program write it. If it adds up all of theirs, use tl.atomic_add.",
    Cause.LOOP_WAITS_FOR_WRITE: "Let both sides use atomics: tl.atomic_xchg to write, and "
    "tl.atomic_add(pointer, 0) to read.",
    **dict.fromkeys(
        (Cause.FLAG_NOT_FENCED, Cause.FLAG_IN_BLOCK_NOT_FENCED),
        'Set the flag by tl.atomic_xchg(flag, 1, sem="release") after the data is stored, and read '
        'it by tl.atomic_add(flag, 0, sem="acquire") before the data is loaded.',
    ),
    Cause.SCOPE_TOO_NARROW: 'Leave the atomic\'s scope at scope="gpu", its default: several '
    "programs meet there.",
}

_NUMBA_APART = (
    "A barrier reaches only its own block. If a block needs the results of another, use a second "
    "launch."
)
_NUMBA_ATOMIC = (
    "Let an atomic do the whole update: cuda.atomic.add(array, index, value). Or give each thread "
    "its own result, and combine them by a reduction."
)

NUMBA: Steps = {
    Cause.CONDITION_NEVER_CHANGES: _CHANGES,
    Cause.EXPECTED_NOT_RENEWED: _RENEW,
    OUT_OF_BOUNDS: "Does this thread own an element? If not, guard the access: if i < x.size. If "
    "it does, work out its index by hand for the thread that the report names.",
    Cause.OUTSIDE_SHARED_ARRAY: "Compare the size with cuda.shared.array(...), and work out each "
    "index in [ ] for the thread that the report names: which of them reaches its extent?",
    Cause.DYNAMIC_SHARED_TOO_SMALL: "Compare the elements used, times their itemsize, "
    "with the bytes of the launch: kernel[grid, block, stream, bytes].",
    Cause.INDEX_OVERFLOW: "Make one factor 64 bits wide before you multiply: "
    "np.int64(row) * width + column. Indices of cuda.grid are.",
    Cause.INDEX_BELOW_ZERO: "Test before you subtract: if i >= 1, and then x[i - 1]. An index "
    "below 0 counts from the end, as in NumPy, and one further down is outside.",
    Cause.HOST_ADDRESS: "Pass the array itself, or cuda.to_device(array).",
    Cause.MEMORY_NOT_INITIALISED: "Which line should have written this element, and does it run "
    "before the read? cuda.shared.array(...) and cuda.device_array(...) hold nothing useful before "
    "you write them.",
    UNINITIALISED: "Give every element a value before it is read: cuda.shared.array(...) and "
    "cuda.device_array(...) hold nothing useful before you write them.",
    DATA_RACE: "Same block: cuda.syncthreads() between the two. Different blocks: no barrier "
    "helps, so use a second array, a second launch or cuda.atomic.",
    Cause.NO_ORDER_IN_WARP: "Put a barrier between the two accesses: cuda.syncwarp() if the lanes "
    "of one warp share the element, cuda.syncthreads() if threads of several warps do. "
    f"{_FIRST_READ}",
    Cause.NO_ORDER_IN_BLOCK: "Put cuda.syncthreads() between the two accesses, where every thread "
    f"of the block reaches it. {_FIRST_READ}",
    Cause.NO_ORDER_IN_GRID: f"{_NUMBA_APART} {_FROM_BEFORE}",
    Cause.UPDATE_NOT_ATOMIC: f"No barrier helps here. {_NUMBA_ATOMIC}",
    Cause.TEST_NOT_ATOMIC: "No barrier helps here. Let one atomic do both, the test and the store, "
    "and look at its result: if cuda.atomic.cas(x, i, old, new) == old. For the largest or the "
    "smallest value that's cuda.atomic.max or cuda.atomic.min.",
    Cause.READ_BESIDE_ATOMIC: "Leave the read out, and use the value that the atomic returns, the "
    "one from before its update: slot = cuda.atomic.add(count, 0, 1). cuda.atomic.max and "
    "cuda.atomic.min compare by themselves.",
    Cause.SAME_INDEX_COUNTED: "The index is made of values that were loaded or counted: work it "
    "out for both threads. If it's a position, does each count the elements before its own? One "
    "drawn from a counter is what the atomic returns: slot = cuda.atomic.add(count, 0, 1).",
    Cause.LOCK_NOT_ATOMIC: "One atomic finds the lock free and takes it: while "
    "cuda.atomic.cas(lock, 0, 0, 1) != 0. Then come cuda.threadfence(), the work, "
    "cuda.threadfence(), and cuda.atomic.exch(lock, 0, 0).",
    Cause.LOCK_NOT_FENCED: "Put cuda.threadfence() right after the loop that takes the lock, and "
    "another right before cuda.atomic.exch frees it.",
    Cause.UPDATE_OF_ONE_INDEX: "Is each thread meant to have its own element? Then work out "
    "the index for both threads: the two must differ. If they share it on purpose, "
    f"{_NUMBA_ATOMIC[0].lower()}{_NUMBA_ATOMIC[1:]}",
    Cause.OWN_VALUES_WRITTEN_BY_ALL: "If the element combines the values of all threads, the whole "
    "update is one atomic step, such as cuda.atomic.add. If not, is the index missing, or should "
    "one thread alone write it?",
    Cause.WRITTEN_BY_ALL: "Let one thread write it, the one that has the right value: "
    "if cuda.threadIdx.x == 0. Or is the index missing?",
    Cause.SAME_ELEMENT_WRITTEN: "Work out the index for both threads: does it use everything that "
    "tells them apart, such as cuda.threadIdx and cuda.blockIdx, or cuda.grid? If the value is the "
    "same for all, let one thread write it. If it adds up all of theirs, use cuda.atomic.add.",
    Cause.LOOP_WAITS_FOR_WRITE: "Let both sides use atomics: cuda.atomic.exch to write, and "
    "cuda.atomic.add(array, index, 0) to read. Lanes of one warp need no loop: a shuffle passes a "
    "value on.",
    Cause.FLAG_NOT_FENCED: "The writer stores its data, calls cuda.threadfence(), then sets the "
    "flag. The reader reads the flag, calls cuda.threadfence(), then loads the data.",
    Cause.FLAG_IN_BLOCK_NOT_FENCED: "The writer stores its data, calls cuda.threadfence_block(), "
    "then sets the flag. The reader reads the flag, calls cuda.threadfence_block(), then loads.",
    BARRIER: "Every thread of the block must reach each cuda.syncthreads(): move it out of the if, "
    "and let no thread return before it.",
    Cause.BARRIERS_DIFFER: "All threads of a block wait at the same cuda.syncthreads(): take both "
    "out of the branches, and put one after them.",
    Cause.SYNCWARP_NOT_REACHED: "Let every lane that the mask names reach this line: move it out "
    "of the if. Or take the mask from cuda.ballot_sync before the branch.",
    Cause.SHUFFLE_NOT_REACHED: "Move it out of the if, so that all lanes of its mask reach it, and "
    "put the if around what is done with the result. Or take the mask from cuda.ballot_sync before "
    "the branch.",
    Cause.ITERATIONS_DIFFER: "The loop has more iterations for some threads than for others. Give "
    "all of them the same number, such as for base in range(0, n, 32), and let an if inside it "
    "decide which of them load and store.",
    Cause.LANE_NOT_IN_MASK: "The mask names every lane that executes the instruction, and no "
    "other: take it from cuda.ballot_sync before the branch, or let all 32 lanes execute it.",
    Cause.WARP_INCOMPLETE: "All threads of the warp must execute it converged: move it out of any "
    "if that leaves some of them out, and put cuda.syncwarp() after the single-thread part.",
}

_WARP_APART = (
    "Threads of a launch run in any order. If one needs the result of another, use a second "
    "wp.launch."
)
_WARP_ATOMIC = (
    "Let an atomic do the whole update: wp.atomic_add(array, index, value). Or give each thread "
    "its own result, and combine them in a second wp.launch."
)
_WARP_RANGE = (
    "wp.tid() counts to the launch's dim: compare that with this array's shape. If the array is "
    "shorter, or the index is another one, guard the access: if i < x.shape[0]."
)

WARP: Steps = {
    Cause.CONDITION_NEVER_CHANGES: _CHANGES,
    Cause.EXPECTED_NOT_RENEWED: _RENEW,
    OUT_OF_BOUNDS: _WARP_RANGE,
    Cause.OUTSIDE_ARRAY_GUARDED: _WARP_RANGE,
    Cause.OUTSIDE_ARRAY_COMPUTED: _WARP_RANGE,
    Cause.INDEX_BELOW_ZERO: "Test before you subtract: if i >= 1, and then x[i - 1]. An index "
    "below 0 counts from the end, as in NumPy, and one further down is outside.",
    Cause.INDEX_OVERFLOW: "Make one factor 64 bits wide before you multiply: "
    "wp.int64(row) * wp.int64(width).",
    Cause.HOST_ADDRESS: 'Pass an array on the device "cpu", or a NumPy array.',
    UNINITIALISED: "Which launch should have written this element? wp.empty(...) holds nothing "
    "useful before that.",
    Cause.MEMORY_NOT_INITIALISED: "Which launch should have written this element? wp.empty(...) "
    "holds nothing useful before that.",
    Cause.READ_BEFORE_WRITE: _WARP_APART,
    DATA_RACE: f"{_WARP_APART} {_FROM_BEFORE}",
    Cause.NO_ORDER_IN_WARP: f"{_WARP_APART} {_FROM_BEFORE}",
    Cause.NO_ORDER_IN_BLOCK: f"{_WARP_APART} {_FROM_BEFORE}",
    Cause.NO_ORDER_IN_GRID: f"{_WARP_APART} {_FROM_BEFORE}",
    Cause.UPDATE_NOT_ATOMIC: _WARP_ATOMIC,
    Cause.TEST_NOT_ATOMIC: "Let one atomic do both, the test and the store, and look at its "
    "result: if wp.atomic_cas(x, i, old, new) == old. For the largest or the smallest value "
    "that's wp.atomic_max or wp.atomic_min.",
    Cause.READ_BESIDE_ATOMIC: "Leave the read out, and use the value that the atomic returns, the "
    "one from before its update: slot = wp.atomic_add(count, 0, 1).",
    Cause.UPDATE_OF_ONE_INDEX: "Is each thread meant to have its own element? Then work out "
    "the index for both threads: the two must differ. If they share it on purpose, "
    f"{_WARP_ATOMIC[0].lower()}{_WARP_ATOMIC[1:]}",
    Cause.OWN_VALUES_WRITTEN_BY_ALL: "If the element combines the values of all threads, the whole "
    "update is one atomic step, such as wp.atomic_add. If not, is the index missing, or should one "
    "thread alone write it?",
    Cause.WRITTEN_BY_ALL: "Let one thread write it: if wp.tid() == 0. Or is the index missing?",
    Cause.SAME_ELEMENT_WRITTEN: "Work out the index for both threads: does it use all that "
    "wp.tid() returns? If the value is the same for all, let one thread write it. If it adds up "
    "all of theirs, use wp.atomic_add.",
    Cause.LOOP_WAITS_FOR_WRITE: "Let both sides use atomics: wp.atomic_exch to write, and "
    "wp.atomic_add(array, index, 0) to read.",
}

LANGUAGE_STEPS: dict[Language, Steps] = {
    Language.CUDA: {},
    Language.TRITON: TRITON,
    Language.NUMBA: NUMBA,
    Language.WARP: WARP,
}
