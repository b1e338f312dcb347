"""The causes of findings, which are precise enough to choose advice by."""

from __future__ import annotations

from enum import Enum


class Cause(Enum):
    """Why there is a finding. Findings of one kind can have several causes. A learner reads the
    report, and a program asks for the cause. The values say each in words."""

    # memory
    OUTSIDE_ARRAY = "an access before the start or past the end of an array"
    OUTSIDE_ARRAY_GUARDED = "an access outside an array, which a condition lets through"
    INDEX_OVERFLOW = "an index that passed 2^31 in an int"
    INDEX_BELOW_ZERO = "an index below 0 in an unsigned variable"
    NUMBERS_AS_ADDRESS = "numbers that are used as an address"
    HOST_ADDRESS = "an address of the host's memory"
    ADDRESS_NOT_ALLOCATED = "an address that was never allocated"
    DYNAMIC_SHARED_TOO_SMALL = "an access past the dynamic shared memory that a launch gives"
    SHARED_ARRAYS_OVERLAP = "two extern __shared__ arrays that are used as if they were apart"
    COPY_OUTSIDE_ARRAY = "a bulk copy before the start or past the end of an array"
    OUTSIDE_SURFACE = "an access outside a surface"
    OUTSIDE_ALLOCATED_COLUMNS = "an access to columns of tensor memory that were not allocated"
    READ_ONLY_MEMORY = "a write to memory that can only be read"
    ADDRESS_MISALIGNED = "an address that isn't a multiple of the size of the access"
    COPY_MISALIGNED = "a bulk copy whose place or size isn't a multiple of 16 bytes"
    SURFACE_MISALIGNED = "a byte of a surface that isn't a multiple of the size of the access"
    NULL_POINTER = "an access through a null pointer"
    ARRAY_FREED = "an access to an array that was freed"
    FREED_TWICE = "memory is freed that was freed before"
    NOT_FROM_MALLOC = "memory is freed that malloc() did not allocate"

    # values
    MEMORY_NOT_INITIALISED = "a value of memory that was never written"
    READ_BEFORE_WRITE = "a value that another thread writes, and nothing orders the two"
    VARIABLE_NOT_INITIALISED = "a value of a variable that was never set"
    LANE_NOT_IN_SHUFFLE = "a value of a lane that takes no part in the shuffle"

    # two accesses without an order
    NO_ORDER_IN_WARP = "two lanes of a warp, and no barrier between their accesses"
    NO_ORDER_IN_BLOCK = "two warps of a block, and no barrier between their accesses"
    NO_ORDER_IN_CLUSTER = "two blocks of a cluster, and nothing between their accesses"
    NO_ORDER_IN_GRID = "two blocks of a grid, and nothing between their accesses"
    NO_ORDER_BEFORE_WGMMA = "a tile that a wgmma reads, and no barrier after the write"
    LOOP_WAITS_FOR_WRITE = "a loop that waits for a write, and no atomic on either side"
    UPDATE_NOT_ATOMIC = "several threads read, change and write one element"
    SAME_ELEMENT_WRITTEN = "several threads that write one element by one store"
    FLAG_NOT_FENCED = "a flag between two blocks, and no fence before it or after it"
    SCOPE_TOO_NARROW = "an atomic whose scope does not include the other thread"
    ARRIVAL_RELAXED = "an arrival that is relaxed, and so orders no accesses"
    COPY_NOT_AWAITED = "an access to the bytes of a copy before its end"
    GROUP_NOT_COMMITTED = "the same after a wait for groups, which the copy belongs to none of"
    GROUP_LEFT_IN_FLIGHT = "the same after a wait that lets the copy's group stay in flight"
    NO_GROUP_EACH_TIME = "the same in a loop that waits more often than it commits a group"
    COPY_COMPLETION_NOT_SEEN = "an access whose thread can't know that a copy has completed"
    COPIES_OVERLAP = "two blocks that write the same elements, one of them by a copy"
    TILE_STILL_READ = "a write to a tile before the wgmma that reads it has ended"
    REGISTER_READ_BEFORE_WAIT = "a register that an asynchronous instruction has yet to fill"
    WGMMA_FENCE_MISSING = "a wgmma on registers that were set after the last wgmma.fence"
    PROXY_FENCE_MISSING = "no fence.proxy.async between a write and an asynchronous read"
    MBARRIER_INIT_FENCE_MISSING = "no fence between mbarrier.init and a copy that signals it"
    TENSOR_MEMORY_WAIT_MISSING = "no tcgen05.wait or commit between two accesses"
    TENSOR_MEMORY_FENCE_MISSING = "no tcgen05.fence between two accesses"
    TENSOR_MEMORY_BARRIER_MISSING = "no barrier between two threads that issue tcgen05"

    # blocks of a cluster
    BLOCK_NOT_STARTED = "an access to a block that may not have started"
    BLOCK_MAY_END = "an access to a block that may have ended"
    BLOCK_HAS_ENDED = "an access to a block that has ended"
    RANK_NOT_IN_CLUSTER = "a rank that the cluster does not have"
    CLUSTER_WAIT_WITHOUT_ARRIVAL = "a wait for the cluster before an arrival"

    # barriers
    BARRIER_NOT_REACHED = "only some threads of a warp reach __syncthreads()"
    SYNCWARP_NOT_REACHED = "only some of the lanes of its mask reach __syncwarp()"
    SHUFFLE_NOT_REACHED = "only some of the lanes of its mask reach a shuffle or a vote"
    WARP_INCOMPLETE = "an instruction of a whole warp, executed by some of its threads"
    WARPGROUP_INCOMPLETE = "a wgmma without all threads of a warpgroup"
    WARPGROUP_MISSING_WARPS = "a wgmma in a block whose last warpgroup lacks warps"
    LANE_NOT_IN_MASK = "a lane at an instruction whose mask does not name it"
    THREADS_RETURNED = "threads that ended while others wait at __syncthreads()"
    BARRIERS_DIFFER = "threads of a block at two different __syncthreads()"
    BARRIER_NUMBER_INVALID = "a barrier that a block does not have"
    BARRIER_COUNT_INVALID = "a barrier for a number of threads that isn't a multiple of 32"
    BARRIER_COUNTS_DIFFER = "two numbers of threads at one barrier"
    BARRIER_TOO_MANY_THREADS = "more threads at a barrier than it is for"
    BARRIER_NOT_COMPLETED = "a block that ended with threads at a barrier"
    NEVER_RELEASED = "every thread waits"

    # mbarriers, and the copies that signal them
    MBARRIER_NOT_INITIALISED = "an mbarrier that was never initialised"
    MBARRIER_INITIALISED_TWICE = "an mbarrier that is initialised while it is in use"
    MBARRIER_COUNT_INVALID = "an mbarrier for no arrivals, or for too many"
    MBARRIER_TOO_MANY_ARRIVALS = "more arrivals than the phase of an mbarrier waits for"
    MBARRIER_OF_OTHER_BLOCK = "a wait for the mbarrier of another block"
    MBARRIER_ARRIVALS_MISSING = "a wait for an mbarrier whose phase lacks arrivals"
    MBARRIER_BYTES_MISSING = "a wait for an mbarrier whose phase lacks bytes"
    MBARRIER_BYTES_UNEXPECTED = "a wait for an mbarrier that got bytes which it did not expect"
    EXPECTED_BYTES_NEVER_CAME = "a block that ended before all bytes that an mbarrier expected came"
    BYTES_NEVER_EXPECTED = "a block that ended before an mbarrier expected the bytes that came"
    COPY_SIGNALS_OTHER_BLOCK = "a copy that signals the mbarrier of another block than it fills"
    COPY_IN_FLIGHT_AT_END = "a block that ended before its copies"

    # tensor memory
    COLUMN_COUNT_INVALID = "a number of columns that isn't a power of two from 32 to 512"
    COLUMN_COUNTS_DIFFER = "two numbers of columns in the two blocks of a pair"
    COLUMNS_NOT_FREED = "columns that were not freed at the end of their block"
    COLUMNS_NOT_ALLOCATED = "columns are freed that no tcgen05.alloc allocated"
    ALLOCATION_RELINQUISHED = "columns are allocated after tcgen05.relinquish_alloc_permit"
    LANES_OF_OTHER_WARP = "lanes of tensor memory that the warp does not reach"
    ADDRESSES_DIFFER = "two addresses in one warp, where there must be one"
    CTA_GROUPS_MIXED = "both .cta_group::1 and .cta_group::2 in one kernel"
    NO_PAIR_OF_BLOCKS = "a .cta_group::2 without the other block of the pair"
    ISSUED_BY_SEVERAL_THREADS = "a tcgen05 instruction of one thread, issued by several of a warp"
    TENSOR_OPERAND_INVALID = "a descriptor or operand of tcgen05 that breaks a rule"

    # objects
    TENSOR_MAP_INVALID = "a tensor map that does not fit the instruction, or none"
    TEXTURE_INVALID = "an object that does not fit the access to a texture or surface, or none"

    # ends
    STEP_BUDGET_EXCEEDED = "a launch that ran more instructions than it may"
    CONDITION_NEVER_CHANGES = "a loop in which nothing changes its condition"
    ENDLESS_RECURSION = "a function that calls itself until the stack is full"
    ASSERTION_FAILED = "an assert that does not hold"
    TRAP = "a trap"
    LAUNCH_NOT_COOPERATIVE = "a barrier of the whole grid in an ordinary launch"
    UNKNOWN_INSTRUCTION = "something in the PTX that the emulator does not know"
    EMULATOR_ERROR = "a mistake of the emulator"
