"""What an assembler refuses by the target of a module."""

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import EmulatedModule, PtxError

COPY = "__shared__ alignas(16) float s[4]; unsigned a = (unsigned)__cvta_generic_to_shared(s);"
COPY += 'asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(a), "l"(x));'
FENCE = 'asm volatile("wgmma.fence.sync.aligned;");'
MAPA = 'unsigned a; asm volatile("mapa.shared::cluster.u32 %0, %0, 0;" : "+r"(a)); x[0] = a;'


def module(body, arch, before=""):
    source = f'{before} extern "C" __global__ void k(float* x) {{ {body} }}'
    return EmulatedModule(compile_ptx(source, filename="k.cu", arch=arch))


@pytest.mark.parametrize(
    "body, arch, needed",
    [
        (COPY, "compute_75", "sm_80"),
        (COPY, "compute_80", ""),
        (FENCE, "compute_90", "sm_90a"),
        (FENCE, "compute_90a", ""),
        (FENCE, "compute_100a", "sm_90a"),
        (MAPA, "compute_80", "sm_90"),
        (MAPA, "compute_90", ""),
        ("x[0] = 1;", "compute_75", ""),
    ],
)
def test_an_instruction_of_a_newer_gpu_is_refused(body, arch, needed):
    loaded = module(body, arch)
    if not needed:
        assert loaded.entry("k").parameters == [(8, 8)]
        return
    with pytest.raises(PtxError, match=rf"needs a GPU of {needed}, .*{arch[8:]}\."):
        loaded.entry("k")


@pytest.mark.parametrize("count", [16384, 16385])
def test_constant_memory_has_64_kb(count):
    def load():
        return module("x[0] = w[threadIdx.x];", "compute_90a", f"__constant__ float w[{count}];")

    if count == 16384:
        load().entry("k").launch(1, 1, (np.zeros(1, np.float32),))
        return
    with pytest.raises(PtxError, match="w takes 65,540"):
        load()
