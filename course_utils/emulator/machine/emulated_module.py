"""The machine: modules, launches, and the scheduler that moves groups of lanes along.

A launch cuts its grid into batches of blocks that are *resident* together, some eight thousand
lanes each, as an SM holds some blocks at a time. In a batch the group that is furthest behind runs
first, so that lanes that parted at a branch meet again after it, but no group may keep the others
waiting for ever: each runs a bounded number of blocks before the rest have had a turn.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from operator import attrgetter

import numpy as np

from .. import instructions  # noqa: F401  (fills the tables)
from ..checks import early_use
from ..checks.init_check import InitCheck
from ..checks.proxy_check import ProxyCheck, reads_asynchronously
from ..checks.race_check import RaceCheck
from ..checks.sync_check import SyncCheck
from ..recording.arithmetic import arithmetic
from ..recording.counters import Tally, add_up
from ..recording.warp_trace import Tracer
from . import fpenv, ptx
from .async_engine import AsyncEngine
from .barriers import Barriers
from .clusters import RANKS, Clusters
from .faults import access_fault, deadlock, endless_loop, readable_name
from .lanes import Group, lane_masks
from .memory import (
    FUNCTION_WINDOW,
    GAP,
    GLOBAL,
    GLOBAL_WINDOW,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_WINDOW,
    WINDOW_SIZE,
    Region,
    Regions,
)
from .options import Options
from .program import Builder, Code, unknown
from .report import Counts, KernelFault, LaunchResult
from .tensor_memory import TensorMemory

MAX_THREADS = 1024
SMS = 132  # an H200
THREADS_PER_SM = 2048
BLOCKS_PER_SM = 32
SHARED_PER_SM = 228 * 1024
BATCH_LANES = 8192
TURN = 64  # basic blocks that a group may run before others get theirs
RESIDENT_TURN = 2000  # basic blocks that a batch may run before the next is admitted
BUDGET = 4_000_000  # instructions that a batch may issue for a launch
LOCAL_LIMIT = 512 * 1024  # bytes of local memory for each thread (CUDA's limit)


class EmulatedModule:
    """A PTX module. Functions are read and decoded when they are first needed.

    Raises :class:`~course_utils.emulator.PtxError` for text that is not PTX.
    """

    def __init__(self, text: str):
        self.variables, self.functions, self.files = ptx.parse_module(text)
        self._codes: dict[str, Code] = {}
        self._globals: dict[str, Region] = {}
        self._entries: dict[str, Entry] = {}
        self._function_names = list(self.functions)

    @property
    def entries(self) -> list[str]:
        return [name for name, f in self.functions.items() if f.is_entry]

    def entry(self, name: str) -> Entry:
        """The kernel called ``name``. Raises KeyError, naming the kernels there are."""
        if name not in self.entries:
            raise KeyError(f"no kernel named {name!r}; this module has {', '.join(self.entries)}")
        if name not in self._entries:
            self._entries[name] = Entry(self, self.functions[name])
        return self._entries[name]

    def global_array(self, name: str) -> np.ndarray:
        """The bytes of a ``__device__`` or ``__constant__`` variable; a uint8 view, writable."""
        if name not in self.variables:
            matches = [v for v in self.variables if readable_name(v) == name]
            if not matches:
                raise KeyError(f"no __device__ or __constant__ variable named {name!r}")
            name = matches[0]
        return self.region_of(name).storage

    def region_of(self, name: str) -> Region:
        """The region of a module-level variable, made and initialised when first asked for."""
        if name not in self._globals:
            variable = self.variables[name]
            storage = np.zeros(variable.size, np.uint8)
            region = GLOBAL.add(
                readable_name(name), storage, variable.align, variable.space == "const"
            )
            self._globals[name] = region
            if variable.initial:
                self._initialise(variable, storage)
        return self._globals[name]

    def _initialise(self, variable: ptx.Variable, storage: np.ndarray) -> None:
        text = variable.initial.strip().replace("{", "").replace("}", "")
        width = ptx.SIZES[variable.type]
        for n, part in enumerate(p.strip() for p in text.split(",")):
            literal = ptx.parse_literal(part)
            if literal is None:
                symbol = part.removeprefix("generic(").rstrip(")").split("+")
                value = self.address(symbol[0]) + (int(symbol[1], 0) if len(symbol) > 1 else 0)
                data = value.to_bytes(width, "little")
            elif literal.float_bits:
                data = np.array(literal.value, f"<f{width}").tobytes()
            else:
                data = (literal.value % (1 << 8 * width)).to_bytes(width, "little")
            storage[n * width : (n + 1) * width] = np.frombuffer(data, np.uint8)

    def address(self, name: str) -> int:
        """The generic address of a module-level variable or function."""
        if name in self.functions:
            return FUNCTION_WINDOW + 16 * (self._function_names.index(name) + 1)
        if name in self.variables:
            return self.region_of(name).start
        raise ptx.PtxError(f"unknown symbol {name}")

    def function_at(self, address: int, instruction: ptx.Instruction) -> str:
        number, rest = divmod(address - FUNCTION_WINDOW, 16)
        if rest or not 0 < number <= len(self._function_names):
            raise unknown(instruction)
        return self._function_names[number - 1]

    def code(self, name: str) -> Code:
        """The decoded body of a ``.func``."""
        if name not in self._codes:
            function = self.functions.get(name)
            if function is None or function.body is None:
                raise ptx.PtxError(f"the function {name} is called but has no body")
            ptx.parse_body(function, self.files)
            order = len(self._codes) + 1
            self._codes[name] = Builder(function, self.address, order).decode()
        return self._codes[name]


class Entry:
    """A kernel of a module, ready to be launched.

    ``parameters``: (size in bytes, alignment) of each. ``static_shared``: bytes of ``__shared__``
    arrays of fixed size. ``max_threads``: from ``__launch_bounds__``, else 1024.
    """

    def __init__(self, module: EmulatedModule, function: ptx.Function):
        self.module, self.function, self.name = module, function, function.name
        ptx.parse_body(function, module.files)
        self.shared: dict[str, tuple[int, int]] = {}  # variable -> (offset, size); dynamic: size -1
        self.static_shared = self._place_shared()
        self.parameter_addresses: dict[str, int] = {}
        place = PARAM_WINDOW
        for parameter in function.parameters:
            place = -(-place // parameter.align) * parameter.align
            self.parameter_addresses[parameter.name] = place
            place += parameter.size
        bounds = function.attributes.get("maxntid") or function.attributes.get("reqntid")
        self.max_threads = math.prod(bounds) if bounds else MAX_THREADS
        cluster = function.attributes.get("reqnctapercluster")
        self.cluster = (*cluster, 1, 1)[:3] if cluster else None
        bodies = (f.body or "" for f in module.functions.values())
        self.tensor_memory = any("tcgen05." in body for body in bodies)
        self._codes: dict[bool, Code] = {}
        self.code_for(self.cluster is not None)
        opcodes = [i.full_opcode for i in function.instructions]
        self._hardware_ftz = fpenv.suits(opcodes)

    def code_for(self, clustered: bool) -> Code:
        """The decoded body; in clusters, shared variables are at addresses that carry a rank."""
        if clustered not in self._codes:
            builder = Builder(self.function, self._address, 0)
            builder.ranked = frozenset(self.shared) if clustered else frozenset()
            self._codes[clustered] = builder.decode()
        return self._codes[clustered]

    @property
    def parameters(self) -> list[tuple[int, int]]:
        return [(p.size, p.align) for p in self.function.parameters]

    def instructions(self) -> Iterator[ptx.Instruction]:
        """Those of the kernel and of every function that it could call."""
        for function in self.module.functions.values():
            if function is self.function or not function.is_entry:
                ptx.parse_body(function, self.module.files)
                yield from function.instructions

    @property
    def asynchronous(self) -> bool:
        """Whether the kernel can start copies, so that ``Options.seed`` may change what it does."""
        return any("async" in i.modifiers for i in self.instructions())

    def _place_shared(self) -> int:
        """Give shared variables their offsets, a gap after each; return the bytes really needed."""
        own = [v for v in self.function.variables if v.space == "shared"]
        own += [v for v in self.module.variables.values() if v.space == "shared" and v.size]
        place, used = 0, 0
        for variable in own:
            align = max(variable.align, 16)
            place = -(-place // align) * align
            used = -(-used // variable.align) * variable.align + variable.size
            self.shared[variable.name] = (place, variable.size)
            place += -(-variable.size // 128) * 128 + GAP
        self.dynamic_offset = -(-place // 1024) * 1024
        for variable in self.module.variables.values():
            if variable.space == "shared" and not variable.size:
                self.shared[variable.name] = (self.dynamic_offset, -1)
        return used

    def _address(self, name: str) -> int:
        if name in self.shared:
            return self.shared[name][0]
        if name in self.parameter_addresses:
            return self.parameter_addresses[name]
        return self.module.address(name)

    def launch(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence,
        shared: int = 0,
        names: Sequence[str] = (),
        options: Options | None = None,
    ) -> LaunchResult:
        """Run the kernel to its end.

        ``args``: one for each parameter, a NumPy array (passed as a pointer to its first element;
        what the kernel writes lands in it) or the parameter's value as bytes or NumPy scalar.
        ``shared``: bytes of dynamic shared memory. ``names``: the parameters' names, for reports.
        Raises :class:`~course_utils.emulator.KernelFault` for a fault that ends the launch
        and ValueError when arguments do not fit the parameters.
        """
        launch = EmulatedLaunch(self, grid, block, args, shared, names, options or Options())
        flushing = fpenv.hardware_ftz() if self._hardware_ftz else nullcontext()
        with np.errstate(all="ignore"), flushing:
            return launch.run()


def _triple(value) -> tuple[int, int, int]:
    value = (value,) if isinstance(value, int) else tuple(int(v) for v in value)
    return (*value, 1, 1)[:3]


class EmulatedLaunch:
    """One launch: its parameters, its batches in flight, and what it has counted so far."""

    def __init__(self, entry: Entry, grid, block, args, shared, names, options: Options):
        self.entry, self.module, self.options = entry, entry.module, options
        self.grid, self.block = _triple(grid), _triple(block)
        self.dynamic_shared = shared
        self.cluster = _triple(options.cluster or entry.cluster or 1)
        self.clustered = math.prod(self.cluster) > 1
        if any(g % c for g, c in zip(self.grid, self.cluster, strict=True)):
            raise ValueError(
                f"{entry.name}: the grid {self.grid} does not divide into clusters of "
                f"{self.cluster} blocks"
            )
        self.code = entry.code_for(self.clustered or entry.cluster is not None)
        self.printed: list[tuple[tuple, str]] = []  # (block, warp, moment, thread), text
        self.printed_size = 0
        self._workspace: np.ndarray | None = None
        self.parameters: dict[str, bytes] = {}
        self.parameter_regions = Regions()
        self._bind(args, names)
        self.issued = 0  # instructions issued by batches that have ended
        self.budget = options.budget or BUDGET
        self.races = RaceCheck(self) if options.racecheck else None
        follows = self.races and not options.trace
        self.initcheck = InitCheck(self.races) if follows else None
        self.synccheck = SyncCheck(self.races) if self.races else None
        crosses = self.races and reads_asynchronously(self.entry.function.instructions)
        self.proxies = ProxyCheck(self.races) if crosses else None
        if self.races:
            for finding in early_use.unwaited(self.code) + early_use.unfenced(self.code):
                self.races.add(("too early", finding.message), finding)
        self.tally = Tally() if options.counters else None
        self.tracer = Tracer(options.trace) if options.trace else None
        self.visits: dict[tuple[Code, int], list[int]] = {}  # block of code -> [lanes, warps]

    def _bind(self, args, names) -> None:
        parameters = self.entry.function.parameters
        if len(args) != len(parameters):
            raise ValueError(
                f"{self.entry.name} takes {len(parameters)} arguments, not {len(args)}"
            )
        names = list(names) or [f"argument {n}" for n in range(len(args))]
        for parameter, value, name in zip(parameters, args, names, strict=True):
            by_value = isinstance(value, np.ndarray) and value.dtype == "V128"  # a tensor map
            by_value = by_value and parameter.size == 128
            if isinstance(value, np.ndarray) and value.ndim + value.size != 1 and not by_value:
                address = GLOBAL.pointer(value, name) if value.size else 0
                data = address.to_bytes(8, "little")
            else:
                data = value if isinstance(value, bytes) else np.asarray(value).tobytes()
            if len(data) != parameter.size:
                raise ValueError(
                    f"{name}: {self.entry.name} takes {parameter.size} bytes, not {len(data)}"
                )
            self.parameters[parameter.name] = data
            self.parameter_regions.add(
                Region(name, "param", self.entry.parameter_addresses[parameter.name], len(data),
                       np.frombuffer(data, np.uint8), read_only=True)
            )  # fmt: skip

    def grid_workspace(self) -> int:
        """The address of the barrier that ``cooperative_groups::this_grid().sync()`` counts on."""
        if self._workspace is None:
            self._workspace = np.zeros(64, np.uint8)
        return GLOBAL.pointer(self._workspace, "the grid's barrier")

    def resident_batches(self, per_batch: int) -> int:
        threads = math.prod(self.block)
        shared = max(self.entry.static_shared + self.dynamic_shared, 1)
        per_sm = min(THREADS_PER_SM // threads, BLOCKS_PER_SM, SHARED_PER_SM // shared)
        return max(1, SMS * max(per_sm, 1) // per_batch)

    def run(self) -> LaunchResult:
        try:
            self._run_batches()
        except KernelFault as fault:
            fault.earlier = self._findings()
            raise
        return self._result()

    def _run_batches(self) -> None:
        lanes_per_block = -(-math.prod(self.block) // 32) * 32
        cluster = math.prod(self.cluster)
        per_batch = max(1, BATCH_LANES // lanes_per_block // cluster) * cluster
        blocks = math.prod(self.grid)
        waiting = iter(range(0, blocks, per_batch))
        limit = self.resident_batches(per_batch)
        active: list[Batch] = []
        for first in itertools.chain(waiting, itertools.repeat(None)):
            if first is not None:
                active.append(Batch(self, first, min(per_batch, blocks - first)))
            if not active:
                break
            while active:
                active = [batch for batch in active if not batch.advance(RESIDENT_TURN)]
                if len(active) < limit:
                    break

    def _findings(self):
        return self.races.collected() if self.races else []

    def _text(self) -> str:
        return "".join(text for _, text in sorted(self.printed, key=lambda p: p[0]))

    def _result(self) -> LaunchResult:
        counts = Counts()
        for (code, number), (lanes, warps) in self.visits.items():
            block = code.blocks[number]
            counts.thread_instructions += lanes * len(block.instructions)
            counts.warp_instructions += warps * len(block.instructions)
            for instruction in block.instructions:
                name = instruction.full_opcode
                counts.opcodes[name] = counts.opcodes.get(name, 0) + lanes
                work = arithmetic(instruction)
                counts.flops += lanes * work.flops // work.threads if work else 0
        result = LaunchResult(counts, self._findings(), self._text(), self.tracer, self.tally)
        if self.tally:
            result.instructions = self.tally.instructions(self.visits)
            add_up(result.instructions, counts)
        return result


class Batch:
    """Blocks that run together, one lane per thread."""

    def __init__(self, launch: EmulatedLaunch, first: int, count: int):
        self.launch, self.first, self.block_count = launch, first, count
        self.threads = math.prod(launch.block)
        self.lanes_per_block = -(-self.threads // 32) * 32
        self.shared_stride = self._shared_size()
        self.shared = self._make_shared()
        self.locals = Regions()
        self.windows = {
            SHARED_WINDOW: self.shared,
            LOCAL_WINDOW: self.locals,
            PARAM_WINDOW: launch.parameter_regions,
        }
        self.living = np.zeros(count * self.lanes_per_block // 32, np.int64)
        self.exits = 0  # grows whenever lanes end
        self.issued = 0
        self.groups: list[Group] = []
        self.clock = 0
        self.alarm = launch.budget  # when to look up from issuing instructions
        self.clusters = Clusters(self, launch.cluster) if launch.clustered else None
        self.barriers = Barriers(self)
        self.engine = AsyncEngine(self)
        lanes = np.arange(count * self.lanes_per_block, dtype=np.int64)
        if self.threads % 32:
            lanes = lanes[lanes % self.lanes_per_block < self.threads]
        np.add.at(self.living, lanes >> 5, 1)
        self.alive = np.bincount(lanes // self.lanes_per_block, minlength=count)
        group = Group(self, lanes, launch.code, 0, list(launch.code.blank))
        checks = (launch.races, launch.initcheck, launch.proxies)
        watching = (*checks, launch.tally, launch.tracer)
        watchers = [w.watch for w in watching if w is not None]
        self.watcher = _both(watchers)
        self.traced_lane = launch.tracer.begin(self) if launch.tracer else None
        if launch.races:
            launch.races.begin(self)
        for check in checks[1:]:
            if check is not None:
                check.begin(self)
        self.tensor_memory = TensorMemory(self) if launch.entry.tensor_memory else None
        self.begin_frame(group)
        self.add(group)

    # --- memory ---

    def _shared_size(self) -> int:
        entry = self.launch.entry
        ends = [offset + size for offset, size in entry.shared.values() if size > 0]
        if self.launch.dynamic_shared:
            ends.append(entry.dynamic_offset + self.launch.dynamic_shared)
        return -(-max(ends, default=0) // 1024) * 1024

    def _make_shared(self) -> Regions:
        regions = Regions()
        bank = np.full(self.block_count * self.shared_stride, 0xFF, np.uint8)
        for name, (offset, size) in self.launch.entry.shared.items():
            size = self.launch.dynamic_shared if size < 0 else size
            found = regions.below(SHARED_WINDOW + offset)
            if size == 0 or (found is not None and found.start == SHARED_WINDOW + offset):
                continue  # no dynamic memory, or one more name of it
            regions.add(
                Region(readable_name(name), "shared", SHARED_WINDOW + offset, size,
                       bank[offset:], "block", self.shared_stride)
            )  # fmt: skip
        return regions

    def region_at(self, address: int) -> Region | None:
        """The region that the byte at a generic address belongs to."""
        if self.clusters is not None and address >> 48 == SHARED_WINDOW >> 48:
            address &= ~RANKS
        regions = self.regions_of(address)
        region = regions.below(address) if regions else None
        return region if region is not None and address < region.end else None

    def regions_of(self, address: int) -> Regions | None:
        if address >= GLOBAL_WINDOW:
            return GLOBAL.regions
        return self.windows.get(address // WINDOW_SIZE * WINDOW_SIZE)

    def check(self, site, group: Group, addresses: np.ndarray) -> np.ndarray:
        """The start of each lane's region; raises the fault of the first lane that has none."""
        homes = np.zeros(group.n, np.uint64)
        for n, address in enumerate(addresses.tolist()):
            region = self.region_at(address)
            if (
                region is None
                or address + site.bytes > region.end
                or address % site.bytes
                or (region.read_only and site.is_store)
            ):
                raise access_fault(self, site, group, n, address, region)
            homes[n] = region.start
        return homes

    # --- frames ---

    def begin_frame(self, group: Group) -> None:
        """Set the special registers that a function uses and make room for its local arrays."""
        code = group.code
        for name, slot in code.specials.items():
            if name == "cc":
                continue
            if not name.startswith("local:"):
                value = self.special(name, group)
                if value is None:
                    raise ptx.PtxError(f"the emulator does not know the special register %{name}")
                group.R[slot] = value
        for variable in code.locals:
            align = max(variable.align, 16)
            place = -(-group.local_top // align) * align
            group.local_top = place + variable.size + 128
            if group.local_top > LOCAL_LIMIT or len(group.stack) > 4096:
                raise endless_loop(self, group, "calls itself without end: the stack is full")
            start = LOCAL_WINDOW + place
            region = self.locals.below(start)
            if region is None or region.start != start or region.size != variable.size:
                if region is not None and region.end > start:
                    self.locals.remove(region)
                stride = -(-variable.size // 16) * 16
                storage = np.full(stride * self.block_count * self.lanes_per_block, 0xFF, np.uint8)
                self.locals.add(
                    Region("a local array", "local", start, variable.size, storage, "lane", stride)
                )
            slot = code.specials.get("local:" + variable.name)
            if slot is not None:
                group.R[slot] = np.array([place], np.uint64)
        if self.launch.initcheck:
            self.launch.initcheck.enter(group)

    def special(self, name: str, group: Group) -> np.ndarray | None:
        """The value of a special register for the lanes of a group; uint32 unless noted."""
        launch = self.launch
        lanes = group.lanes % self.lanes_per_block
        grid, block, shape = launch.grid, launch.block, launch.cluster

        def u32(value):
            return np.atleast_1d(np.asarray(value)).astype(np.uint32)

        base, _, axis = name.partition(".")
        position = "xyz".find(axis) if axis else -1
        if base == "tid":
            if block[position] == 1:
                return u32(0)
            x, rest = lanes % block[0], lanes // block[0]
            return u32((x, rest % block[1], rest // block[1])[position])
        if base == "ctaid":
            if self.block_count == 1 or grid[position] == 1:
                return u32(self.block_index(self.first)[position])
            return u32(self.block_index(self.first + group.slots)[position])
        if base == "gridid":
            return np.ones(1, np.uint64)
        simple = {
            "ntid": lambda: block[position],
            "nctaid": lambda: grid[position],
            "laneid": lambda: lanes & 31,
            "warpid": lambda: lanes >> 5,
            "nwarpid": lambda: 64,
            "smid": lambda: (self.first + group.slots) % SMS,
            "nsmid": lambda: SMS,
            "lanemask_eq": lambda: 1 << (lanes & 31),
            "lanemask_lt": lambda: (1 << (lanes & 31)) - 1,
            "lanemask_le": lambda: (2 << (lanes & 31)) - 1,
            "lanemask_ge": lambda: 0x1_0000_0000 - (1 << (lanes & 31)),
            "lanemask_gt": lambda: 0x1_0000_0000 - (2 << (lanes & 31)),
            "dynamic_smem_size": lambda: launch.dynamic_shared,
            "total_smem_size": lambda: launch.dynamic_shared + launch.entry.static_shared,
            "clusterid": lambda: self.special("ctaid." + axis, group) // shape[position],
            "nclusterid": lambda: grid[position] // shape[position],
            "cluster_ctaid": lambda: self.special("ctaid." + axis, group) % shape[position],
            "cluster_nctaid": lambda: shape[position],
            "cluster_ctarank": lambda: self.clusters.ranks(group) if self.clusters else 0,
            "cluster_nctarank": lambda: math.prod(shape),
            "is_explicit_cluster": lambda: int(launch.clustered),
            "shared_base": lambda: self.clusters.base(group) if self.clusters else 0,
        }
        if base in ("envreg1", "envreg2"):  # where a grid that synchronises keeps its counter
            shift = 32 if base == "envreg1" else 0
            return u32(launch.grid_workspace() >> shift & 0xFFFFFFFF)
        if base.startswith("envreg"):
            return u32(0)
        return u32(simple[base]()) if base in simple else None

    def block_index(self, number: int) -> tuple[int, int, int]:
        """(x, y, z) of a block; blocks are numbered cluster by cluster. Arrays do as well."""
        gx, gy, _ = self.launch.grid
        if not self.launch.clustered:
            return number % gx, number // gx % gy, number // gx // gy
        cx, cy, cz = self.launch.cluster
        c, r = number // (cx * cy * cz), number % (cx * cy * cz)
        gx, gy = gx // cx, gy // cy
        return (
            c % gx * cx + r % cx,
            c // gx % gy * cy + r // cx % cy,
            c // gx // gy * cz + r // cx // cy,
        )

    def who(self, lane: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """(thread, block), each (x, y, z), of a lane."""
        slot, thread = divmod(int(lane), self.lanes_per_block)
        bx, by, _ = self.launch.block
        return (
            (thread % bx, thread // bx % by, thread // bx // by),
            self.block_index(self.first + slot),
        )

    # --- scheduling ---

    def add(self, group: Group) -> None:
        group.credit = group.credit or TURN
        self.groups.append(group)

    def tick(self) -> int:
        self.clock += 1
        return self.issued + self.clock

    @property
    def stuck(self) -> bool:
        return bool(self.living.any()) and all(g.stalled for g in self.groups)

    def advance(self, turns: int) -> bool:
        """Run up to ``turns`` basic blocks; True when every lane has ended."""
        launch, check = self.launch, self.launch.initcheck
        group = None
        for _ in range(turns):
            if group is None or self.groups:
                if group is not None:
                    self.groups.append(group)
                group = self._pick()
                while group is None and self.living.any() and self.engine.wake():
                    group = self._pick()
                if group is None:
                    break
            code = group.code
            block = code.blocks[group.block]
            if block.gather is not None:
                if launch.synccheck:
                    launch.synccheck.members(group, block)
                if not group.whole_warps:
                    group = self.gather(group, block)
                    if group is None:
                        continue
            if launch.tracer is not None:
                launch.tracer.run(group, block)
            elif check is not None:
                check.run(group, block)
            else:
                for act in block.steps:
                    act(group)
            self.issued += len(block.instructions)
            group.credit -= 1
            visit = launch.visits.get((code, block.number))
            if visit is None:
                visit = launch.visits[code, block.number] = [0, 0]
            visit[0] += group.n
            visit[1] += len(group.warps)
            if self.issued >= self.alarm:
                if self.issued > launch.budget:
                    raise endless_loop(self, group)
                self.engine.ring()
            group = block.end(group)
        if group is not None:
            self.groups.append(group)
        if not self.living.any():
            self.engine.finish()
            launch.issued += self.issued
            return True
        if self.stuck:
            raise deadlock(self)
        return False

    def _pick(self) -> Group | None:
        """Take the group to run next out of the list, merged with those at the same place."""
        groups = self.groups
        if len(groups) == 1:
            return None if groups[0].stalled else groups.pop()
        ready = [g for g in groups if not g.stalled]
        if not ready:
            return None
        willing = [g for g in ready if g.credit > 0]
        if not willing:
            for g in ready:
                g.credit = TURN
            willing = ready
        chosen = min(willing, key=attrgetter("place"))
        place = chosen.place
        alike = [
            g for g in groups
            if g is not chosen and g.place == place and g.same_callers(chosen)
        ]  # fmt: skip
        groups.remove(chosen)
        if not alike:
            return chosen
        for g in alike:
            groups.remove(g)
        return chosen.merge(alike)

    def diverge(self, group: Group, chosen: np.ndarray, taken, skipped) -> None:
        """Send the lanes of ``chosen`` one way and the others the other; both are queued."""
        if self.launch.tally:
            self.launch.tally.parted(group, chosen)
        for flags, go in ((~chosen, skipped), (chosen, taken)):
            part = self.part(group, np.flatnonzero(flags))
            part = go(part)
            if part is not None:
                self.add(part)

    def part(self, group: Group, index: np.ndarray) -> Group:
        """Some lanes of a group at the end of its block: they carry what later blocks may read."""
        code = group.code
        block = code.blocks[group.block]
        after = block.reads | block.writes
        for successor in block.successors:
            after.update(code.live[successor])
        return group.subset(index, tuple(after))

    def gather(self, group: Group, block) -> Group | None:
        """Lanes whose partners named in the member mask are here go on; the others wait.

        A partner that has ended is not waited for.
        """
        mask = np.broadcast_to(block.gather(group.R), group.n)
        warps, here = lane_masks(group)
        row = np.searchsorted(warps, group.lanes >> 5)
        living = self.living_masks()[group.lanes >> 5]
        ready = (mask & living & ~here[row]) == 0  # nobody named in the mask is elsewhere
        if ready.all():
            return group
        on = None
        if ready.any():
            live = group.code.live[group.block]
            on = group.subset(np.flatnonzero(ready), live)
            group = group.subset(np.flatnonzero(~ready), live)
        group.stalled = True
        self.add(group)
        return on

    def living_masks(self) -> np.ndarray:
        """For each warp the mask of its lanes that have not ended; uint32."""
        masks = np.zeros(len(self.living), np.uint32)
        for g in itertools.chain(self.groups, self.barriers.parked()):
            warps, bits = lane_masks(g)
            masks[warps] |= bits
        return masks

    def finish(self, group: Group) -> None:
        """The lanes of a group have come to the end of the kernel."""
        np.subtract.at(self.living, group.lanes >> 5, 1)
        self.alive -= np.bincount(group.slots, minlength=self.block_count)
        self.exits += 1
        for other in self.groups:
            other.stalled = False
        self.barriers.recheck()
        if self.launch.synccheck:
            blocks = group.blocks
            self.launch.synccheck.blocks_end(self, blocks[self.alive[blocks] == 0])
        if self.tensor_memory is not None:
            self.tensor_memory.leave(group)
        if self.clusters is not None:
            self.clusters.leave(group)
            if self.launch.races:
                blocks = group.blocks
                self.launch.races.leave(self, blocks[self.alive[blocks] == 0])

    def ordered_within_warps(self, group: Group) -> None:
        if self.launch.races:
            self.launch.races.warp_barrier(self, group)


def _both(watchers):
    if not watchers:
        return None
    if len(watchers) == 1:
        return watchers[0]

    def watch(*args):
        for watcher in watchers:
            watcher(*args)

    return watch
