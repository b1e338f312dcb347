"""Surfaces: suld, sust.

Source: PTX ISA, "Surface Instructions". Surfaces are memory: every access is checked and observed
like those of ld and st.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..findings.causes import Cause
from ..findings.report import KernelFault
from ..isa import ptx
from ..isa.instruction_set import Traits, step
from ..machine.accesses import Site
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..memory.texels import Surface, Texels
from .textures import GEOMETRIES, Objects, coordinates, fault


class SurfaceAccess:
    """suld and sust: which bytes of a surface each lane means."""

    def __init__(self, b: Builder, i: ptx.Instruction, operand: ptx.Operand) -> None:
        self.instruction = i
        self.clamp, kind = i.modifiers[-1], i.modifiers[-2]
        self.geometry = next(m for m in i.modifiers if m in GEOMETRIES)
        count = next((int(m[1:]) for m in i.modifiers if m in ("v2", "v4")), 1)
        self.objects = Objects(b, i, operand, Surface)
        self.layer, self.at = coordinates(b, i, self.geometry, "s32")
        before, slot = set(b.reads), b.function.new_slot("b64")
        self.site = Site(b, i, ptx.Address(ptx.Register(slot, "b64", "computed")), kind, count)
        self.site.space = "surface"
        b.reads.intersection_update(before)
        self.slot = slot

    def parts(self, group: Group, needed: tuple[int, ...]) -> Iterator[tuple[Group, np.ndarray]]:
        """The lanes that reach each surface, with their addresses, and their positions."""
        for surface, index in self.objects.each(group):
            texels = surface.texels
            self.objects.check(group, int(index[0]), texels, self.geometry)
            at = [group.full(get(group.R))[index].astype(np.int64) for get in self.at]
            x, y, z = (*at, *[np.zeros(len(index), np.int64)] * 2)[:3]
            ends = [size - 1 for size in (*texels.sizes, 1, 1)[:3]]
            if self.layer is not None:
                z = group.full(self.layer(group.R))[index].astype(np.int64)
                ends[2] = texels.layers - 1
            ends[0] = texels.sizes[0] * texels.texel_bytes // self.site.bytes - 1
            ends[0] *= self.site.bytes
            inside = np.ones(len(index), bool)
            for place, end in zip((x, y, z), ends, strict=True):
                inside &= (place >= 0) & (place <= end)
            if self.clamp == "trap" and not inside.all():
                n = int(np.argmin(inside))
                raise self._outside(group, int(index[n]), texels, (x[n], y[n], z[n]))
            if self.clamp == "clamp":
                x, y, z = (np.clip(p, 0, max(e, 0)) for p, e in zip((x, y, z), ends, strict=True))
            else:
                index, x, y, z = index[inside], x[inside], y[inside], z[inside]
            if not len(index):
                continue
            if (x % self.site.bytes).any():
                n = int(np.argmax(x % self.site.bytes != 0))
                raise self._misaligned(group, int(index[n]), int(x[n]))
            part = group.subset(index, needed)
            part.R[self.slot] = texels.address(x, y, z)
            yield part, index

    def _what(self) -> str:
        verb = "writes" if self.site.is_store else "reads"
        return f"{verb} {self.site.bytes} byte{'s' * (self.site.bytes > 1)}"

    def _outside(self, group: Group, n: int, texels: Texels, at: Sequence[int]) -> KernelFault:
        names = "x", "y", "layer" if texels.stacked else "z"
        used = 3 if texels.stacked else texels.dimensions
        places = [
            f"{name} = {int(place)}"
            for name, place in list(zip(names, at, strict=True))[:used]
            if name != "y" or texels.dimensions > 1
        ]
        sizes = [f"{texels.sizes[0] * texels.texel_bytes} bytes in a row"]
        named = zip(texels.sizes[1:], ("rows", "slices"), strict=False)
        sizes += [f"{size} {name}" for size, name in named]
        sizes += [f"{texels.layers} layers"] if texels.stacked else []
        text = (
            f"{self._what()} of a surface at {', '.join(places)} @; it has {', '.join(sizes)}. The "
            "x of a surface counts bytes: column * sizeof(element)."
        )
        return fault(group, n, self.instruction, Cause.OUTSIDE_SURFACE, text)

    def _misaligned(self, group: Group, n: int, x: int) -> KernelFault:
        text = (
            f"{self._what()} of a surface at x = {x} @. The x of a surface counts bytes, and must "
            f"be a multiple of the {self.site.bytes} that are accessed at once."
        )
        return fault(group, n, self.instruction, Cause.SURFACE_MISALIGNED, text)


_CACHED = {"ca", "cg", "cs", "cv", "wb", "wt"}
_CLAMPS = ("trap", "clamp", "zero")


def _unformatted(i: ptx.Instruction) -> bool:
    """Whether the modifiers are b.geometry[.cop][.vec].type.clamp."""
    rest = [m for m in i.modifiers if m not in _CACHED and m not in ("v2", "v4")]
    return (
        len(rest) == 4
        and rest[0] == "b"
        and rest[1] in ("1d", "2d", "3d", "a1d", "a2d")
        and rest[2] in ("b8", "b16", "b32", "b64")
        and rest[3] in _CLAMPS
        and len(i.operands) == 2
    )


@step("suld", traits=Traits(memory="load"))
def suld(b: Builder, i: ptx.Instruction) -> Step | None:
    """suld.b: 1, 2 or 4 elements at a byte of each row. Not here: suld of a formatted surface."""
    if not _unformatted(i):
        return None
    access = SurfaceAccess(b, i, i.operands[1])
    site, kind = access.site, i.modifiers[-2]
    puts = [b.write(item, kind) for item in ptx.items(i.operands[0])]

    def act(group: Group) -> None:
        results = [np.zeros(group.n, site.dtype) for _ in puts]
        for part, positions in access.parts(group, ()):
            region, first, index = site.reached(part)
            view = region.view(site.dtype)
            for n, result in enumerate(results, first):
                result[positions] = view[n:].take(index)
        for put, result in zip(puts, results, strict=True):
            put(group.R, result)

    return act


@step("sust", traits=Traits(results=0, memory="store"))
def sust(b: Builder, i: ptx.Instruction) -> Step | None:
    """Not here: sust.p, which converts to the format of the surface."""
    if not _unformatted(i):
        return None
    access = SurfaceAccess(b, i, i.operands[0])
    site, kind = access.site, i.modifiers[-2]
    before = set(b.reads)
    site.values = gets = [b.read(item, kind) for item in ptx.items(i.operands[1])]
    needed = tuple(b.reads - before | {*_slots(i.operands[1])})

    def act(group: Group) -> None:
        for part, _ in access.parts(group, needed):
            region, first, index = site.reached(part)
            view = region.view(site.dtype)
            for n, get in enumerate(gets, first):
                value = get(part.R)
                view[n:][index] = value if len(value) <= len(index) else value[-1:]

    return act


def _slots(operand: ptx.Operand) -> list[int]:
    return [item.slot for item in ptx.items(operand) if isinstance(item, ptx.Register)]
