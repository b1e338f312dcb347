"""The benchmarks of chapter 04: memory is what they have in common."""

from __future__ import annotations

from ..device import ON_GPU, cp
from ..kernels import load
from .case import Case, Launch, Work, blocks, double, normal, torch_on_gpu

FOLDER = "04_first_kernels"


def _vec_add(n: int) -> Work:
    a, b, c, theirs = normal(n), normal(n, 1), cp.empty(n, cp.float32), cp.empty(n, cp.float32)
    libraries = {}
    if ON_GPU:
        libraries["cupy.add"] = lambda: cp.add(a, b, out=theirs)
    if torch := torch_on_gpu():
        x, y, z = (torch.as_tensor(array, device="cuda") for array in (a, b, theirs))
        libraries["torch.add"] = lambda: torch.add(x, y, out=z)
    return Work(
        (Launch(load(f"{FOLDER}/vec_add.cu").kernel, blocks(n, 256), 256, (a, b, c, n)),),
        output=c,
        expected=lambda: double(a) + double(b),
        rtol=1e-6,
        atol=1e-7,
        libraries=libraries,
    )


CASES = (
    Case(
        "vec_add",
        "vector addition, fp32",
        (f"{FOLDER}/vec_add.cu",),
        _vec_add,
        bytes=lambda n: 3 * 4 * n,
        flops=lambda n: n,
        gpu_sizes=(1 << 20, 1 << 28),
        emulator_size=1 << 20,
    ),
)
