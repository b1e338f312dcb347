"""Uniform random numbers by cuRAND's host API, through CuPy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ...devices.selection import ON_GPU

DYNAMIC = 104  # CURAND_ORDERING_PSEUDO_DYNAMIC: the order that suits the GPU best
KINDS = {
    "cuRAND Philox": (161, None),
    "cuRAND Philox, dynamic": (161, DYNAMIC),
    "cuRAND XORWOW": (101, DYNAMIC),
}


def uniform_floats(out: Any, seed: int) -> dict[str, Callable[[], None]]:
    """Generators that fill ``out``, each call with later numbers. None without a GPU."""
    if not ON_GPU:
        return {}
    curand = import_module("cupy.cuda").curand

    def filling(kind: int, order: int | None) -> Callable[[], None]:
        generator = curand.createGenerator(kind)
        curand.setPseudoRandomGeneratorSeed(generator, seed)
        if order is not None:
            curand.setGeneratorOrdering(generator, order)
        return lambda: curand.generateUniform(generator, out.data.ptr, out.size)

    return {name: filling(*kind) for name, kind in KINDS.items()}
