"""The arguments of a Triton kernel as its PTX takes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from ..findings.language_words import Language
from ..isa.gpu_constants import WARP
from ..launching.emulated_module import KernelEntry
from ..memory import tensor_box
from ..memory.address_space import GLOBAL
from .host_arrays import LanguageError
from .prepared_launch import Emulation, PreparedLaunch, PythonSource, entry_of

_NUMBERS = {
    "i1": np.dtype(np.int8),
    "u1": np.dtype(np.uint8),
    "fp16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "fp32": np.dtype(np.float32),
    "f32": np.dtype(np.float32),
    "fp64": np.dtype(np.float64),
    **{f"{sign}{8 * size}": np.dtype(f"{sign}{size}") for sign in "iu" for size in (1, 2, 4, 8)},
}
# The element types of tensor maps, as Triton numbers them.
_MAP_KINDS = (*tensor_box.KINDS[:8], "f32", "f64", "bf16", "f32", "f32")
_SWIZZLES = (0, 32, 64, 128)
Argument = tuple[str, Any]  # the name of a parameter, and an array, bytes or NumPy scalar


class TritonArguments:
    """Launches one compiled kernel, as Triton's launcher would: with the grid, the hooks and all
    arguments that the Python function has."""

    def __init__(self, compiled: Any, emulations: list[Emulation]) -> None:
        self._compiled, self._emulations = compiled, emulations
        self._entry: KernelEntry | None = None

    def __call__(self, x: int, y: int, z: int, stream: Any, *rest: Any) -> None:
        _, _, details, enter, leave, *args = rest
        if not self._emulations:
            raise LanguageError(
                f"{self._compiled.name} was compiled for the emulator: launch it inside "
                "`with triton_on_emulator():`."
            )
        emulation = self._emulations[-1]
        if emulation.trying:
            return
        prepared = self.prepared((x, y, z), args)
        if enter is not None:
            enter(details)
        emulation.launch(prepared)
        if leave is not None:
            leave(details)

    def prepared(self, grid: tuple[int, int, int], args: list[Any]) -> PreparedLaunch:
        """The launch in the emulator's terms."""
        compiled, metadata = self._compiled, self._compiled.metadata
        function = compiled.src.fn
        own = function.fn.__code__.co_filename
        if self._entry is None:
            self._entry = entry_of(compiled.asm["ptx"], compiled.name, own)
        entry = self._entry
        kinds = list(compiled.src.signature.values())
        maps = iter(getattr(metadata, "tensordesc_meta", None) or ())
        named = [
            part
            for name, kind, value in zip(function.arg_names, kinds, args, strict=True)
            for part in _flat(name, kind, value, maps)
        ]
        clusters = getattr(metadata, "num_ctas", 1)
        blocks = grid[0] * grid[1] * grid[2] * clusters
        scratch = [
            (f"Triton's {which} memory", _scratch(getattr(metadata, size, 0) * blocks))
            for which, size in (
                ("scratch", "global_scratch_size"),
                ("profile", "profile_scratch_size"),
            )
        ]
        named += scratch[: len(entry.parameters) - len(named)]
        cooperative = bool(getattr(metadata, "launch_cooperative_grid", False))
        return PreparedLaunch(
            function.__name__,
            entry,
            (grid[0] * clusters, grid[1], grid[2]),
            (WARP * metadata.num_warps, 1, 1),
            tuple(value for _, value in named),
            tuple(name for name, _ in named),
            PythonSource.of(own),
            metadata.shared,
            {"cooperative": True} if cooperative else {},
            keep=args,
            compilers_memory="global_smem",
            language=Language.TRITON,
        )


def _scratch(size: int) -> Any:
    return np.zeros(size, np.uint8) if size else np.uint64(0)


def _flat(name: str, kind: Any, value: Any, maps: Iterator[Any]) -> Iterator[Argument]:
    """The PTX parameters of one argument: none for a constant, several for a tuple."""
    if kind == "constexpr":
        return
    if isinstance(kind, tuple):
        for number, (inner, part) in enumerate(zip(kind, value, strict=True)):
            yield from _flat(f"{name}[{number}]", inner, part, maps)
    elif kind.startswith("tensordesc"):
        yield from _descriptor(name, value, next(maps, None))
    elif kind.startswith("*"):
        yield name, value.array if hasattr(value, "array") else np.uint64(int(value))
    elif kind in _NUMBERS:
        yield name, np.array(value).astype(_NUMBERS[kind])[()]
    else:
        raise LanguageError(f"{name}: the emulator cannot pass Triton's type {kind}.")


def _descriptor(name: str, value: Any, made: Any) -> Iterator[Argument]:
    """A TensorDescriptor: a tensor map, or its parts where the target has none."""
    base = value.base.array
    if made is None:
        yield name, base
        yield from ((f"{name}.shape", np.int64(each)) for each in value.shape)
        yield from ((f"{name}.strides", np.int64(each)) for each in value.strides)
        yield f"{name}.padding", np.int8(value.padding == "nan")
        if any(field.name == "round_f32_to_tf32" for field in dataclasses.fields(value)):
            yield f"{name}.rounding", np.int8(value.round_f32_to_tf32)
    else:
        yield name, _tensor_map(name, value, base, made)
    yield from ((f"{name}.shape", np.int32(each)) for each in value.shape)
    yield from ((f"{name}.strides", np.int64(each)) for each in value.strides)


def _tensor_map(name: str, value: Any, base: np.ndarray, made: Any) -> bytes:
    if made.get("is_im2col") or made["fp4_padded"] or made["elem_type"] >= len(_MAP_KINDS):
        raise LanguageError(
            f"{name}: the emulator has no tensor map of this kind. Load with pointers instead."
        )
    size, box = made["elem_size"], made["block_size"][::-1]
    return tensor_box.Box(
        GLOBAL.pointer(base, name),
        _MAP_KINDS[made["elem_type"]],
        tuple(value.shape)[::-1],
        (size, *(step * size for step in list(value.strides)[:-1][::-1])),
        tuple(box),
        (1,) * len(box),
        _SWIZZLES[made["swizzle"]],
        value.padding == "nan",
        getattr(value, "round_f32_to_tf32", False),
    ).encode()
