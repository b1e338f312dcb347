"""Textures: tex, tld4, and the queries txq and suq.

Source: PTX ISA, "Texture Instructions". What a fetch is worth is worked out in
:mod:`..memory.texels`. The observers are told the texel nearest to its coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Generic, TypeVar

import numpy as np

from ..findings.causes import Cause
from ..findings.report import BAD_TEXTURE, MISALIGNED, OUT_OF_BOUNDS, Finding, KernelFault
from ..findings.wording import where
from ..isa import ptx
from ..isa.instruction_set import DTYPES, Traits, step
from ..machine.accesses import Site
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.operands import Get
from ..machine.program import Builder
from ..memory.texels import Surface, Texels, Texture, object_at, on_cube

# geometry -> what an object must be, and its coordinates (layers are not counted)
GEOMETRIES = {
    "1d": ("1D", 1),
    "2d": ("2D", 2),
    "3d": ("3D", 3),
    "a1d": ("layered 1D", 1),
    "a2d": ("layered 2D", 2),
    "cube": ("cubemap", 3),
    "acube": ("layered cubemap", 3),
}
_LEVELS = ("base", "level", "grad")  # of detail; there is one, and so they tell nothing
_CHANNELS = ("r", "g", "b", "a")
Named = TypeVar("Named", bound=Texture | Surface)

KIND_OF = {
    Cause.OUTSIDE_SURFACE: OUT_OF_BOUNDS,
    Cause.SURFACE_MISALIGNED: MISALIGNED,
    Cause.TEXTURE_INVALID: BAD_TEXTURE,
}


def fault(group: Group, n: int, i: ptx.Instruction, cause: Cause, text: str) -> KernelFault:
    """What the lane at position ``n`` may not do."""
    kind = KIND_OF[cause]
    thread, block = group.batch.thread_and_block(group.lanes[n])
    line = f" at {i.location}" if i.location else ""
    text = f"{kind.capitalize()}: {where(thread, block)} {text.replace(' @', line)}"
    return KernelFault(Finding(kind, text, i.location, thread, block, cause=cause))


class Objects(Generic[Named]):
    """The texture or surface that an instruction names by the number in a register."""

    def __init__(
        self, b: Builder, i: ptx.Instruction, operand: ptx.Operand, kind: type[Named]
    ) -> None:
        if not isinstance(operand, ptx.Address) or not isinstance(operand.base, ptx.Register):
            raise ptx.PtxError("its first operand in brackets must be a register with an object")
        self.instruction = i
        self.kind: type[Named] = kind
        self.get = b.read(operand.base, "u64")
        self.name = "texture" if kind is Texture else "surface"

    def each(self, group: Group) -> Iterator[tuple[Named, np.ndarray]]:
        """Each object that lanes name, and their positions in the group."""
        handles = group.full(self.get(group.R))
        for handle in np.unique(handles).tolist():
            index = np.flatnonzero(handles == handle)
            found = object_at(handle)
            if not isinstance(found, self.kind):
                other = "" if found is None else f", but for a {type(found).__name__.lower()}"
                text = (
                    f"names a {self.name} @ by a number that isn't the handle of one{other}. "
                    "Pass the object itself as the argument, and keep it until the kernel has run."
                )
                raise fault(group, int(index[0]), self.instruction, Cause.TEXTURE_INVALID, text)
            yield found, index

    def check(self, group: Group, n: int, texels: Texels, geometry: str) -> None:
        """Raises KernelFault, for the lane at position ``n``, where an object has another
        geometry."""
        wanted = GEOMETRIES[geometry][0]
        given = texels.shape_name
        if wanted == given or (self.kind is Surface and geometry == "a2d" and texels.cube):
            return
        text = f"accesses a {wanted} {self.name} @, and the object is of a {given} array."
        raise fault(group, n, self.instruction, Cause.TEXTURE_INVALID, text)


def coordinates(
    b: Builder, i: ptx.Instruction, geometry: str, kind: str
) -> tuple[Get | None, list[Get]]:
    """(getter of the layer or None, getters of x, y, z). Raises PtxError for too few coordinates,
    and for a sampler apart from the texture."""
    at = next(o for o in i.operands if isinstance(o, ptx.Address))
    if len(at.extra) != 1:
        raise ptx.PtxError("a sampler of its own is not known")
    items = ptx.items(at.extra[0])
    layered = geometry.startswith("a")
    count = GEOMETRIES[geometry][1]
    if len(items) < count + layered:
        raise ptx.PtxError(f"it has {len(items)} coordinates where {count + layered} are needed")
    layer = b.read(items[0], "u32") if layered else None
    return layer, [b.read(item, kind) for item in items[layered : layered + count]]


def _layer_of(texels: Texels, get: Get | None, group: Group, index: np.ndarray) -> np.ndarray:
    """The layer that each lane names, the last where it names one too high; int64."""
    if get is None:
        return np.zeros(len(index), np.int64)
    layers = texels.layers // 6 if texels.cube else texels.layers
    return np.minimum(group.full(get(group.R))[index].astype(np.int64), layers - 1)


FetchOne = Callable[[Texture, list[np.ndarray], np.ndarray], np.ndarray]  # at, layer -> u32 (4, n)

# --- fetches --------------------------------------------------------------------------------------


class Fetch:
    """What tex and tld4 have in common: objects, coordinates, and four results."""

    def __init__(
        self, b: Builder, i: ptx.Instruction, geometry: str, dtype: str, ctype: str
    ) -> None:
        target, address = i.operands[:2]
        targets, self.resident = ptx.items(target), None
        if isinstance(targets[0], ptx.OperandList):  # {r, g, b, a}|predicate
            self.resident = b.write(targets[1], "pred")
            targets = ptx.items(targets[0])
        if len(targets) != 4:
            raise ptx.PtxError(f"it has {len(targets)} results where 4 are needed")
        self.puts = [b.write(item, dtype) for item in targets]
        self.dtype, self.geometry, self.whole = DTYPES[dtype], geometry, ctype == "s32"
        self.objects = Objects(b, i, address, Texture)
        self.layer, self.at = coordinates(b, i, geometry, ctype)
        self.slot = b.function.new_slot("b64")
        before = set(b.reads)
        place = ptx.Address(ptx.Register(self.slot, "b64", "computed"))
        self.site = Site(b, i, place, "u8", 1)
        self.site.space = "texture"
        b.reads.intersection_update(before)
        self.sites: dict[tuple[np.dtype, int], Site] = {}

    def run(self, group: Group, fetch: FetchOne) -> None:
        """``fetch(texture, at, layer)`` gives u32 (4, n)."""
        results = np.empty((4, group.n), np.uint32)
        for texture, index in self.objects.each(group):
            texels = texture.texels
            self.objects.check(group, int(index[0]), texels, self.geometry)
            if texels.linear and not self.whole:
                text = (
                    "reads plain memory by a floating-point coordinate @: a texture of linear "
                    "memory is read with tex1Dfetch alone."
                )
                raise fault(
                    group, int(index[0]), self.site.instruction, Cause.TEXTURE_INVALID, text
                )
            at = [group.full(get(group.R))[index] for get in self.at]
            layer = _layer_of(texels, self.layer, group, index)
            if texels.cube:
                face, *at = on_cube(*at)
                layer = 6 * layer + face
            results[:, index] = fetch(texture, at, layer)
            if group.batch.on_access is not None:
                self._observe(group, texture, index, at, layer)
        for put, value in zip(self.puts, results, strict=True):
            put(group.R, value.view(self.dtype))
        if self.resident is not None:
            self.resident(group.R, np.ones(1, bool))

    def _observe(
        self,
        group: Group,
        texture: Texture,
        index: np.ndarray,
        at: Sequence[np.ndarray],
        layer: np.ndarray,
    ) -> None:
        """An access to the nearest texel, of the lanes for which there is one."""
        texels, places = texture.texels, [layer]
        valid = np.ones(len(index), bool)
        for axis, place in enumerate(at):
            number, known = texture.inside(axis, texture.nearest(axis, place))
            places.append(number)
            valid &= known
        if not valid.any():
            return
        layer, x, y, z = (*places, *[np.zeros_like(layer)] * 2)[:4]
        part = group.subset(index[valid], ())
        slices = layer if texels.stacked else z
        addresses = texels.address(x * texels.texel_bytes, y, slices)
        part.R[self.slot] = addresses[valid]
        key = texels.elements.dtype, texels.channels
        if key not in self.sites:
            site = self.sites[key] = copy(self.site)
            site.kind = f"u{8 * key[0].itemsize}"
            site.dtype, site.width, site.bytes = DTYPES[site.kind], key[0].itemsize, 0
            site.bytes, site.shift = texels.texel_bytes, key[0].itemsize.bit_length() - 1
        site = self.sites[key]
        site.reached(part)


def _geometry_of(i: ptx.Instruction, modifiers: list[str]) -> str | None:
    return modifiers[0] if modifiers and modifiers[0] in GEOMETRIES else None


@step("tex", traits=Traits(memory="load"))
def tex(b: Builder, i: ptx.Instruction) -> Step | None:
    """tex[.base|.level|.grad].geometry.v4.dtype.ctype d[|p], [object, coordinates], …; without
    mipmaps the level says nothing. Not here: samplers of their own, offsets, depth textures, more
    than one sample, and results of 16 bits."""
    modifiers = list(i.modifiers)
    level = modifiers.pop(0) if modifiers[0] in _LEVELS else "base"
    geometry = _geometry_of(i, modifiers)
    if geometry is None or len(modifiers) != 4 or modifiers[1] != "v4":
        return None
    dtype, ctype = modifiers[2:]
    extra = {"base": 0, "level": 1, "grad": 2}[level]
    if dtype not in ("u32", "s32", "f32") or ctype not in ("s32", "f32"):
        return None
    if len(i.operands) != 2 + extra or ("cube" in geometry and ctype == "s32"):
        return None
    fetch = Fetch(b, i, geometry, dtype, ctype)
    return lambda group: fetch.run(group, lambda texture, at, layer: texture.fetch(at, layer))


@step("tld4", traits=Traits(memory="load"))
def tld4(b: Builder, i: ptx.Instruction) -> Step | None:
    """tld4.component.geometry.v4.dtype.f32: one channel of the four texels that a linear filter
    would mix."""
    channel, *modifiers = i.modifiers
    geometry = _geometry_of(i, modifiers)
    if geometry not in ("2d", "a2d", "cube", "acube") or channel not in _CHANNELS:
        return None
    if len(modifiers) != 4 or modifiers[1] != "v4" or modifiers[3] != "f32":
        return None
    if modifiers[2] not in ("u32", "s32", "f32") or len(i.operands) != 2:
        return None
    fetch = Fetch(b, i, geometry, modifiers[2], "f32")
    number = _CHANNELS.index(channel)
    return lambda group: fetch.run(
        group, lambda texture, at, layer: texture.gather(at, layer, number)
    )


# --- queries --------------------------------------------------------------------------------------


def _size(axis: int) -> Callable[[Texture | Surface], int]:
    def query(found: Texture | Surface) -> int:
        sizes = found.texels.sizes
        return sizes[axis] if axis < len(sizes) else 0

    return query


_QUERIES = {"width": _size(0), "height": _size(1), "depth": _size(2)}


@step("txq", "suq")
def query(b: Builder, i: ptx.Instruction) -> Step | None:
    """Sizes of a texture or a surface. The other questions of the manual are not here: an H200
    loads no kernel that asks one of an object."""
    kind: type[Texture | Surface] = Texture if i.opcode == "txq" else Surface
    modifiers = i.modifiers[1:] if i.modifiers[0] == "level" else i.modifiers
    if len(modifiers) != 2 or modifiers[0] not in _QUERIES or modifiers[1] != "b32":
        return None
    objects, answer = Objects(b, i, i.operands[1], kind), _QUERIES[modifiers[0]]
    put = b.write(i.operands[0], "u32")

    def act(group: Group) -> None:
        result = np.empty(group.n, np.uint32)
        for found, index in objects.each(group):
            result[index] = answer(found)
        put(group.R, result)

    return act
