"""PTX modules and the kernels in them: where their variables are, and how one is launched."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import instructions  # noqa: F401  (fills the tables)
from ..findings.options import Options
from ..findings.report import PLEASE_REPORT, KernelFault
from ..isa import ptx, ptx_parser
from ..isa.gpu_constants import (
    BLOCKS_PER_SM,
    MAX_THREADS,
    RESERVED,
    RESERVED_SHARED,
    SHARED_PER_SM,
    SMS,
    THREADS_PER_SM,
)
from ..isa.linked_ptx import link
from ..isa.ptx_operands import parse_literal
from ..isa.symbols import readable_name
from ..machine.child_launches import ChildLaunch
from ..machine.code import Code
from ..machine.program import Builder, unknown
from ..memory.address_space import FUNCTION_WINDOW, GAP, GLOBAL, PARAM_WINDOW, DeviceHeap, Region
from ..numerics import fpenv
from ..numerics.rounding import round_up
from .child_runs import run_children, run_one
from .emulated_launch import EmulatedLaunch
from .launch_result import LaunchResult
from .module_text import read_text
from .target_limits import check_constants, check_target

UNLUCKY = (128, 256, 512)  # alignments of shared variables that are put at no larger one


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Any error about text that should be PTX becomes a PtxError that says so."""
    try:
        yield
    except (ptx.PtxError, KernelFault):
        raise
    except Exception as error:
        raise ptx.PtxError(
            f"The emulator cannot read {what} ({type(error).__name__}: {error}). If an assembler "
            f"takes it, {PLEASE_REPORT}."
        ) from error


class EmulatedModule:
    """A PTX module. Functions are read and decoded when they are first needed.

    ``others`` are modules that are linked with it, as of several files compiled with ``-rdc=true``:
    a symbol that one declares ``.extern``, another defines. Raises
    :class:`~course_utils.emulator.PtxError` for text that is not PTX, and for a name that two of
    them define.
    """

    def __init__(self, text: str, *others: str):
        with reading("this module"):
            text = link((text, *others))
            self.ptx, self.text = text, read_text(text)
        self.variables, self.functions = self.text.variables, self.text.functions
        check_constants(self.variables.values())
        self.target = text[: text.find(".address_size")]  # holds the line with .target
        self.files = self.text.files
        self._globals: dict[str, Region] = {}
        self._entries: dict[str, KernelEntry] = {}
        self._function_names = list(self.functions)
        self.heap = DeviceHeap()
        weakref.finalize(self, self.heap.clear).atexit = False

    @property
    def entries(self) -> list[str]:
        """The names of the kernels, mangled as in the PTX."""
        return [name for name, f in self.functions.items() if f.is_entry]

    def entry(self, name: str) -> KernelEntry:
        """The kernel called ``name``. Raises KeyError, naming the kernels there are."""
        if name not in self.entries:
            raise KeyError(f"no kernel named {name!r}: this module has {', '.join(self.entries)}")
        if name not in self._entries:
            with reading(f"the kernel {name}"):
                self._entries[name] = KernelEntry(self, self.functions[name])
        return self._entries[name]

    def global_array(self, name: str) -> np.ndarray:
        """The bytes of a ``__device__`` or ``__constant__`` variable, as a writable uint8 view.
        Raises KeyError where the module has none of this name."""
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
            with reading(f"the variable {name}"):
                storage = np.zeros(variable.size, np.uint8)
            region = GLOBAL.add(
                readable_name(name), storage, variable.align, variable.space == "const"
            )
            self._globals[name] = region
            if variable.initial:
                with reading(f"the values of {name}"):
                    self._initialise(variable, storage)
        return self._globals[name]

    def _initialise(self, variable: ptx.Variable, storage: np.ndarray) -> None:
        text = (variable.initial or "").strip().replace("{", "").replace("}", "")
        width = ptx.SIZES[variable.type]
        for n, part in enumerate(p.strip() for p in text.split(",")):
            literal = parse_literal(part)
            if literal is None:
                symbol = part.removeprefix("generic(").rstrip(")").split("+")
                value = self.address(symbol[0]) + (int(symbol[1], 0) if len(symbol) > 1 else 0)
                data = value.to_bytes(width, "little")
            elif literal.float_bits:
                data = np.array(literal.value, f"<f{width}").tobytes()
            else:
                data = (int(literal.value) % (1 << 8 * width)).to_bytes(width, "little")
            storage[n * width : (n + 1) * width] = np.frombuffer(data, np.uint8)

    def address(self, name: str) -> int:
        """The generic address of a module-level variable or function. Raises PtxError for an
        unknown ``name``."""
        if name in self.functions:
            return FUNCTION_WINDOW + 16 * (self._function_names.index(name) + 1)
        if name in self.variables:
            return self.region_of(name).start
        raise ptx.PtxError(f"unknown symbol {name}")

    def kernel_needs(self, name: str) -> tuple[int, int]:
        """A kernel's bytes of arguments and most threads of a block, (-1, 0) for no kernel."""
        if name not in self.entries:
            return -1, 0
        entry = self.entry(name)
        return entry.parameter_bytes, entry.max_threads

    def defines(self, name: str) -> bool:
        """Whether the module has the body of a function."""
        function = self.functions.get(name)
        return function is not None and function.body is not None

    def function_at(self, address: int, instruction: ptx.Instruction) -> str:
        """The name of the function at an address. Raises KernelFault where there is none."""
        number, rest = divmod(address - FUNCTION_WINDOW, 16)
        if rest or not 0 < number <= len(self._function_names):
            raise unknown(instruction)
        return self._function_names[number - 1]


class KernelEntry:
    """A kernel of a module, ready to be launched.

    ``parameters``: (size in bytes, alignment) of each. ``static_shared``: bytes of ``__shared__``
    arrays of fixed size. ``max_threads``: from ``__launch_bounds__``, else 1024.
    """

    def __init__(self, module: EmulatedModule, function: ptx.Function):
        self.module, self.function, self.name = module, function, function.name
        if function.body is None:
            raise ptx.PtxError(f"the kernel {self.name} is declared but has no body")
        ptx_parser.parse_body(function, module.files)
        check_target(module.target, function.instructions)
        self.shared: dict[str, tuple[int, int]] = {}  # variable -> (offset, size); dynamic: size -1
        self.static_shared = self._place_shared()
        self.parameter_addresses: dict[str, int] = {}
        place = PARAM_WINDOW
        for parameter in function.parameters:
            place = round_up(place, parameter.align)
            self.parameter_addresses[parameter.name] = place
            place += parameter.size
        bounds = function.attributes.get("maxntid") or function.attributes.get("reqntid")
        self.max_threads = math.prod(bounds) if bounds else MAX_THREADS
        cluster = function.attributes.get("reqnctapercluster")
        self.cluster = (*cluster, 1, 1)[:3] if cluster else None
        bodies = [f.body or "" for f in module.functions.values()]
        self.tensor_memory = any("tcgen05." in body for body in bodies)
        self.cancels = any("clusterlaunchcontrol.try_cancel" in body for body in bodies)
        self._codes: dict[tuple[str, bool], Code] = {}
        self._own_addresses = False  # whether what was decoded last names variables of the module
        self.code_for(self.cluster is not None)
        opcodes = [i.full_opcode for i in function.instructions]
        self._hardware_ftz = fpenv.suits(opcodes)

    def code_for(self, clustered: bool, name: str | None = None) -> Code:
        """The decoded body, or the function ``name`` as this kernel calls it: shared variables are
        where the kernel has them. In clusters their addresses carry a rank."""
        key = name or self.name, clustered
        if key not in self._codes:
            order, kept = len(self._codes), self.module.text.codes
            code = kept.get((self.name, *key))
            if code is None:
                self._own_addresses = False
                code = self._decoded(name, clustered)
                if not self._own_addresses:
                    kept[self.name, *key] = code
            self._codes[key] = replace(code, order=order)
        return self._codes[key]

    def _decoded(self, name: str | None, clustered: bool) -> Code:
        function = self.module.functions.get(name) if name else self.function
        if function is None or function.body is None:
            raise ptx.PtxError(f"the function {name} is called but has no body")
        with reading(f"the function {name}") if name else nullcontext():
            ptx_parser.parse_body(function, self.module.files)
            builder = Builder(function, self._address)
            builder.ranked = frozenset(self.shared) if clustered else frozenset()
            return builder.decode()

    @property
    def parameter_bytes(self) -> int:
        """Bytes of all parameters, laid out one after another."""
        last = self.function.parameters[-1:]
        return sum(self.parameter_addresses[p.name] + p.size - PARAM_WINDOW for p in last)

    def arguments_in(self, data: bytes) -> list[bytes]:
        """Each parameter's part of ``data``, in which they are laid out one after another."""
        starts = [self.parameter_addresses[p.name] - PARAM_WINDOW for p in self.function.parameters]
        sizes = [size for size, _ in self.parameters]
        return [data[at : at + size] for at, size in zip(starts, sizes, strict=True)]

    @property
    def parameters(self) -> list[tuple[int, int]]:
        """(size, alignment) of each parameter, in bytes."""
        return [(p.size, p.align) for p in self.function.parameters]

    def instructions(self) -> Iterator[ptx.Instruction]:
        """Those of the kernel and of every function that it could call."""
        for function in self.module.functions.values():
            if function is self.function or not function.is_entry:
                ptx_parser.parse_body(function, self.module.files)
                yield from function.instructions

    def _called(self) -> list[ptx.Function]:
        """The functions that the kernel could call, if they declare variables."""
        called = [
            f
            for f in self.module.functions.values()
            if not f.is_entry and any(space in (f.body or "") for space in (".local", ".shared"))
        ]
        for function in called:
            ptx_parser.parse_body(function, self.module.files)
        return called

    @cached_property
    def local_bytes(self) -> int:
        """Bytes of local arrays of a thread: the kernel's own and its callable functions', each
        counted once."""
        variables = [v for f in (self.function, *self._called()) for v in f.variables]
        return sum(v.size for v in variables if v.space == "local")

    @property
    def asynchronous(self) -> bool:
        """Whether the kernel can start copies, so that ``Options.seed`` may change what it does."""
        return any("async" in i.modifiers for i in self.forms)

    @cached_property
    def forms(self) -> list[ptx.Instruction]:
        """One of :meth:`instructions` for each opcode with its modifiers."""
        return list({(i.opcode, i.modifiers): i for i in self.instructions()}.values())

    def _place_shared(self) -> int:
        """Give shared variables their offsets, a gap after each, and dynamic memory its own after
        them. Return the bytes really needed.

        A GPU may put a variable at any multiple of its alignment. So an alignment that isn't enough
        for a swizzle of TMA never comes out right by luck. Dynamic memory is aligned as its arrays
        are declared, unless nothing comes before it.
        """
        own = [v for f in (self.function, *self._called()) for v in f.variables]
        own = [v for v in own if v.space == "shared"]
        own += [v for v in self.module.variables.values() if v.space == "shared" and v.size]
        place, used = 0, 0
        for variable in own:
            align = max(variable.align, 16)
            place = round_up(place, align)
            if variable.align in UNLUCKY:
                place = _no_better(place, variable.align)
            used = round_up(used, variable.align) + variable.size
            self.shared[variable.name] = (place, variable.size)
            place += round_up(variable.size, 128) + GAP
        self.reserved_offset = place = round_up(place, 16)
        if any("%reserved_smem_offset" in (f.body or "") for f in self.module.functions.values()):
            self.shared[RESERVED] = (place, RESERVED_SHARED)
            place += RESERVED_SHARED + GAP
        dynamic = [v for v in self.module.variables.values() if v.space == "shared" and not v.size]
        align = max([16, *(v.align for v in dynamic)])
        place = round_up(place, align)
        if place and align < 1024:
            place = _no_better(place, align)
        self.dynamic_offset = place
        self.shared |= dict.fromkeys((v.name for v in dynamic), (place, -1))
        return used

    def _address(self, name: str) -> int:
        if name in self.shared:
            return self.shared[name][0]
        if name in self.parameter_addresses:
            return self.parameter_addresses[name]
        self._own_addresses |= name in self.module.variables
        return self.module.address(name)

    def resident_blocks(self, block: tuple[int, ...], shared: int = 0) -> int:
        """How many blocks of this shape the multiprocessors hold at once."""
        each = max(self.static_shared + shared, 1)
        per_sm = min(THREADS_PER_SM // math.prod(block), BLOCKS_PER_SM, SHARED_PER_SM // each)
        return SMS * max(per_sm, 1)

    def launch(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        shared: int = 0,
        names: Sequence[str] = (),
        options: Options | None = None,
    ) -> LaunchResult:
        """Run the kernel to its end.

        ``args``: one for each parameter, a NumPy array (passed as a pointer to its first element;
        what the kernel writes lands in it) or the parameter's value as bytes or NumPy scalar.
        ``shared``: bytes of dynamic shared memory. ``names``: the parameters' names, for reports.
        Kernels that it launches run after it, and their findings and text come with its own.
        Raises :class:`~course_utils.emulator.KernelFault` for a fault that ends the launch
        and ValueError when arguments do not fit the parameters.
        """
        return self.launch_at_depth(0, grid, block, args, shared, names, options or Options())

    def launch_at_depth(
        self,
        depth: int,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        shared: int,
        names: Sequence[str],
        options: Options,
        child: ChildLaunch | None = None,
    ) -> LaunchResult:
        """:meth:`launch`, of a ``child`` that ``depth`` launches lie around."""
        launch = EmulatedLaunch(self, grid, block, args, shared, names, options, depth)
        flushing = fpenv.hardware_ftz() if self._hardware_ftz else nullcontext()
        with np.errstate(all="ignore"), flushing:
            result = run_one(launch, child)
        run_children(self.module, launch.children, options, result)
        return result


def _no_better(place: int, align: int) -> int:
    """A ``place`` that is a multiple of ``align``, or the next one where twice of that divides it
    too."""
    return place + align if place % (2 * align) == 0 else place
