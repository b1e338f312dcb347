"""The benchmarks of chapter 04: memory is what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from ...devices.properties import multiprocessors
from ...devices.selection import ON_GPU, cp
from ...launching.modules import Kernel, load
from ...paths import kernel_file
from ..case import Case, KernelCall, Work, blocks, double, normal, torch_on_gpu

CHAPTER = "04_first_kernels"
SERIES_STEPS = 256
SCALE, SHIFT, SEED, KEEP = 0.7, -0.1, 2024, 0.9  # of the chain of element-wise kernels


def _kernel(name: str, **defines: int) -> Kernel:
    return load(kernel_file(name, CHAPTER), defines=defines).kernel


def _files(*names: str) -> tuple[str, ...]:
    return tuple(kernel_file(name, CHAPTER) for name in names)


def _tensors(*arrays: Any) -> tuple:
    """The arrays as torch tensors that share their memory; only where torch_on_gpu()."""
    return tuple(torch_on_gpu().as_tensor(array, device="cuda") for array in arrays)


def _resident(n: int, threads: int, elements: int) -> int:
    """A grid that fills every SM with 2048 threads, or less where n elements need no more.

    A thread takes ``elements`` at a time.
    """
    full = 2048 // threads * multiprocessors()
    return min(full, blocks(n, threads * elements))


# --- element by element ---


def _vec_add_vector(n: int) -> Work:
    work = _vec_add(n)
    a, b, c, _ = work.launches[0].args
    launch = KernelCall(_kernel("vec_add_vector"), blocks(n, 1024), 256, (a, b, c, n // 4))
    return replace(work, launches=(launch,))


def _vec_add(n: int) -> Work:
    a, b, c, theirs = normal(n), normal(n, 1), cp.empty(n, cp.float32), cp.empty(n, cp.float32)
    libraries = {}
    if ON_GPU:
        libraries["cupy.add"] = lambda: cp.add(a, b, out=theirs)
    if torch := torch_on_gpu():
        x, y, z = _tensors(a, b, theirs)
        libraries["torch.add"] = lambda: torch.add(x, y, out=z)
    return Work(
        (KernelCall(_kernel("vec_add"), blocks(n, 256), 256, (a, b, c, n)),),
        output=c,
        expected=lambda: double(a) + double(b),
        rtol=1e-6,
        atol=1e-7,
        libraries=libraries,
    )


def _copy(
    name: str,
    *more: int,
    first: int = 0,
    step: int = 1,
    at_once: int = 1,
    shared_mem: int = 0,
    library: bool = False,
    **defines: int,
) -> Callable[[int], Work]:
    """out = x[first::step], ``at_once`` elements a thread; ``more`` follow n in the arguments."""

    def make(n: int) -> Work:
        x, out = normal(first + n * step), cp.empty(n, cp.float32)
        count = n // 4 if name == "copy_vector" else n
        args = x, out, count, *more
        grid = blocks(n, 256 * at_once)
        libraries = {}
        if library and ON_GPU:
            theirs = cp.empty_like(out)
            libraries["cudaMemcpy"] = lambda: (cp.copyto(theirs, x), theirs)[1]
        return Work(
            (KernelCall(_kernel(name, **defines), grid, 256, args, shared_mem),),
            output=out,
            expected=lambda: double(x[first::step][:n]),
            libraries=libraries,
        )

    return make


def _copy_case(name: str, file: str, what: str, make, **settings: Any) -> Case:
    settings = {"gpu_sizes": (1 << 26,), "test_sizes": (1, 257, 1009)} | settings
    return Case(name, what, _files(file), make, lambda n: 8 * n, lambda n: 0, **settings)


def _fall(name: str) -> Callable[[int], Work]:
    def make(n: int) -> Work:
        particles, later, dt = normal((n, 8)), cp.empty(n, cp.float32), 0.01
        z, vz = (cp.ascontiguousarray(particles[:, k]) for k in (2, 5))
        data = (particles,) if name == "fall_aos" else (z, vz)
        return Work(
            (KernelCall(_kernel(name), blocks(n, 256), 256, (*data, later, dt, n)),),
            output=later,
            expected=lambda: double(z) + dt * double(vz),
            rtol=1e-6,
            atol=1e-6,
        )

    return make


def _fall_case(name: str) -> Case:
    return Case(
        name,
        "falling particles",
        _files(name),
        _fall(name),
        bytes=lambda n: 12 * n,
        flops=lambda n: 2 * n,
        gpu_sizes=(1 << 25,),
        test_sizes=(1, 61, 1009),
    )


# --- neighbours ---


def _blur(size: tuple[int, int]) -> Work:
    """Each pixel becomes the mean of those up to two rows and columns away; for the emulator."""
    (height, width), radius = size, 2
    grey, out = normal(size), cp.empty(size, cp.float32)
    grid = blocks(width, 16), blocks(height, 16)

    def expected() -> Any:
        total, count = cp.zeros((2, height, width), cp.float64)
        for down in range(-radius, radius + 1):
            for right in range(-radius, radius + 1):
                rows = slice(max(0, -down), max(0, height - max(0, down)))
                columns = slice(max(0, -right), max(0, width - max(0, right)))
                count[rows, columns] += 1
                total[rows, columns] += double(grey)[
                    max(0, down) : max(0, height + min(0, down)),
                    max(0, right) : max(0, width + min(0, right)),
                ]
        return total / count

    arguments = grey, out, height, width, radius
    return Work(
        (KernelCall(_kernel("image_blur"), grid, (16, 16), arguments),),
        output=out,
        expected=expected,
        rtol=1e-5,
        atol=1e-6,
    )


# --- transpose ---


def _transpose(name: str) -> Callable[[Any], Work]:
    def make(size: tuple[int, int]) -> Work:
        rows, columns = size
        a, out = normal(size), cp.empty((columns, rows), cp.float32)
        grid, block = (blocks(columns, 32), blocks(rows, 32)), (32, 32)
        if name == "transpose_vector":
            grid, block = (blocks(rows, 64), blocks(columns, 64)), 256
        libraries = {}
        if ON_GPU:
            from cupy import cublas

            theirs = cp.empty_like(out)

            def geam():  # column-major: it sees both matrices transposed already
                cublas.geam("T", "T", 1.0, a.T, 0.0, a.T, out=theirs.T)
                return theirs

            libraries["cuBLAS geam"] = geam
        if torch_on_gpu():
            x, y = _tensors(a, cp.empty_like(out))
            libraries["torch"] = lambda: y.copy_(x.T)
        return Work(
            (KernelCall(_kernel(name), grid, block, (a, out, rows, columns)),),
            output=out,
            expected=lambda: double(a.T),
            libraries=libraries,
        )

    return make


def _transpose_case(name: str, **more: Any) -> Case:
    return Case(
        name,
        "transpose, fp32",
        _files(name),
        _transpose(name),
        bytes=lambda size: 8 * size[0] * size[1],
        flops=lambda size: 0,
        gpu_sizes=((8192, 8192),),
        **({"test_sizes": ((1, 1), (37, 70), (33, 1), (64, 96))} | more),
    )


# --- sum ---


def _sum_launches(name: str, x: Any, total: Any) -> tuple[KernelCall, ...]:
    kernel, n = _kernel(name), x.size
    if name == "sum_atomic":
        return (KernelCall(kernel, blocks(n, 256), 256, (x, total, n)),)
    if name == "sum_single_pass":
        grid = _resident(n, 1024, 16)
        args = x, total, cp.empty(grid, cp.float32), cp.zeros(1, cp.uint32), n
        return (KernelCall(kernel, grid, 1024, args),)
    launches: list[KernelCall] = []
    while n > 1 or not launches:  # again on its own results until one is left
        block = 1024 if name == "sum_vector" else 256
        grid = blocks(n, 256)
        if name == "sum_vector":
            grid = 1 if launches else _resident(n, 1024, 16)
        sums = total if grid == 1 else cp.empty(grid, cp.float32)
        launches.append(KernelCall(kernel, grid, block, (x, sums, n)))
        x, n = sums, grid
    return tuple(launches)


def _sum(name: str) -> Callable[[int], Work]:
    def make(n: int) -> Work:
        x, total = normal(n), cp.empty(1, cp.float32)
        launches = _sum_launches(name, x, total)
        libraries = {}
        if ON_GPU:
            libraries["CUB (cupy.sum)"] = lambda: cp.sum(x).reshape(1)
        if torch := torch_on_gpu():
            (tensor,) = _tensors(x)
            libraries["torch.sum"] = lambda: torch.sum(tensor).reshape(1)
        # The sum goes up and down like sqrt(n), and so many of its additions come one by one.
        in_a_row = n if name == "sum_atomic" else 64 + n // (1 << 18)
        return Work(
            launches,
            output=total,
            expected=lambda: double(x).sum().reshape(1),
            atol=2**-22 * (n * in_a_row) ** 0.5,
            libraries=libraries,
            cleared=(total,) if name == "sum_atomic" else (),
            same_bits=name != "sum_atomic",
        )

    return make


def _sum_case(name: str, **more: Any) -> Case:
    return Case(
        name,
        "sum, fp32",
        _files(name),
        _sum(name),
        bytes=lambda n: 4 * n,
        flops=lambda n: n,
        ceiling="read",
        **({"gpu_sizes": (1 << 28,), "test_sizes": (1, 255, 1009, 70001)} | more),
    )


# --- histogram ---


def _histogram(name: str, equal: bool) -> Callable[[int], Work]:
    def make(n: int) -> Work:
        pixels = cp.full(n, 77, cp.uint8)
        if not equal:
            pixels = cp.clip(128 + 40 * normal(n), 0, 255).astype(cp.uint8)
        counts = cp.empty(256, cp.uint32)
        one_by_one = name in ("histogram_global", "histogram_aggregated")
        grid = blocks(n, 256) if one_by_one else _resident(n, 256, 1)
        libraries = {}
        if ON_GPU:
            libraries["cupy.bincount"] = lambda: cp.bincount(pixels, minlength=256)
        if torch := torch_on_gpu():
            (tensor,) = _tensors(pixels)
            libraries["torch.bincount"] = lambda: torch.bincount(tensor, minlength=256)
        return Work(
            (KernelCall(_kernel(name), grid, 256, (pixels, counts, n)),),
            output=counts,
            expected=lambda: double(cp.bincount(pixels, minlength=256)),
            libraries=libraries,
            cleared=(counts,),
        )

    return make


def _histogram_case(file: str, equal: bool = False) -> Case:
    return Case(
        f"{file}_equal" if equal else file,
        "histogram of equal bytes" if equal else "histogram of bytes",
        _files(file),
        _histogram(file, equal),
        bytes=lambda n: n,
        flops=lambda n: 0,
        gpu_sizes=(1 << 28,),
        test_sizes=(1, 17, 1009),
        ceiling="read",
    )


# --- branches ---


def _branch(name: str, width: int) -> Callable[[int], Work]:
    """``width`` neighbours in a row take the same way."""

    def make(n: int) -> Work:
        x, out = normal(n), cp.empty(n, cp.float32)

        def expected():
            term = cp.where(cp.arange(n) // width % 2 == 0, 1.0, 3.0)
            value = double(x)
            for _ in range(SERIES_STEPS):
                value = 0.5 * value + term
            return value

        launch = KernelCall(_kernel(name), blocks(n, 256), 256, (x, out, SERIES_STEPS, n))
        return Work((launch,), output=out, expected=expected, rtol=1e-6)

    return make


def _branch_case(name: str, width: int) -> Case:
    return Case(
        name,
        f"two series of {SERIES_STEPS} FMAs",
        _files(name),
        _branch(name, width),
        bytes=lambda n: 8 * n,
        flops=lambda n: 2 * SERIES_STEPS * n,
        gpu_sizes=(1 << 24,),
        test_sizes=(1, 61, 1009),
    )


# --- fusion ---


def kept(n: int) -> Any:
    """What kernels/common/dropout.cuh decides for elements 0 ... n - 1, as booleans."""
    bits = cp.arange(n, dtype=cp.uint32) ^ cp.uint32(SEED)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        bits = (bits ^ bits >> cp.uint32(shift)) * cp.uint32(factor)
    bits = (bits ^ bits >> cp.uint32(16)) >> cp.uint32(8)
    return bits.astype(cp.float32) < cp.float32(KEEP) * cp.float32(2**24)


def _chain(*names: str) -> Callable[[int], Work]:
    def make(n: int) -> Work:
        x, y = normal(n), cp.empty(n, cp.float32)
        arguments = {
            "chain_affine": (x, y, SCALE, SHIFT, n),
            "chain_silu": (y, n),
            "chain_dropout": (y, SEED, KEEP, n),
            "chain_residual": (y, x, n),
        }
        whole = (x, y, SCALE, SHIFT, SEED, KEEP, n)

        def expected():
            value = SCALE * double(x) + SHIFT
            return double(x) + cp.where(kept(n), value / (1 + cp.exp(-value)) / KEEP, 0.0)

        libraries = {}
        if torch_on_gpu() and len(names) == 1:
            (tensor,) = _tensors(x)
            libraries = {
                "torch eager": lambda: (_torch_chain(tensor), None)[1],
                "torch.compile": lambda: (_compiled(_torch_chain)(tensor), None)[1],
            }
        per_thread = 4 if "chain_fused_vector" in names else 1
        grid = blocks(n, 256 * per_thread)
        return Work(
            tuple(KernelCall(_kernel(k), grid, 256, arguments.get(k, whole)) for k in names),
            output=y,
            expected=expected,
            rtol=1e-5,
            atol=1e-6,
            libraries=libraries,
            same_bits=False,  # a GPU's fast exponential is not the emulator's
        )

    return make


def _torch_chain(x: Any) -> Any:
    """The same chain in torch, with torch's own random mask: timed, not checked."""
    functional = torch_on_gpu().nn.functional
    return x + functional.dropout(functional.silu(SCALE * x + SHIFT), 1 - KEEP)


@cache
def _compiled(function: Callable) -> Callable:
    mode = "max-autotune-no-cudagraphs"
    return torch_on_gpu().compile(function, dynamic=False, mode=mode)


def _chain_case(name: str, *files: str, **more: Any) -> Case:
    settings = {"gpu_sizes": (1 << 26,), "test_sizes": (1, 61, 1009)} | more
    return Case(
        name,
        "affine, SiLU, dropout, add",
        _files(*files),
        _chain(*files),
        bytes=lambda n: 8 * n,
        flops=lambda n: 8 * n,
        **settings,
    )


def _dropout_backward(stored: bool) -> Callable[[int], Work]:
    def make(n: int) -> Work:
        dy, dx, mask = normal(n), cp.empty(n, cp.float32), kept(n)
        name, arguments = (
            ("dropout_backward_stored", (dy, mask, dx, KEEP, n))
            if stored
            else ("dropout_backward_recomputed", (dy, dx, SEED, KEEP, n))
        )
        launch = KernelCall(_kernel(name), blocks(n, 1024), 256, arguments)
        return Work((launch,), dx, lambda: cp.where(mask, double(dy) / KEEP, 0.0), rtol=1e-6)

    return make


def _dropout_case(name: str) -> Case:
    stored = name.endswith("stored")
    return Case(
        name,
        "gradient of dropout",
        _files(name),
        _dropout_backward(stored),
        bytes=lambda n: 8 * n,
        flops=lambda n: n,
        gpu_sizes=(1 << 26,),
        test_sizes=(4, 260, 1012),
    )


def _conv(name: str) -> Callable[[Any], Work]:
    def make(size: tuple[int, ...]) -> Work:
        images, channels, filters, height, width = size
        x = normal((images, channels, height, width))
        weights = normal((filters, channels, 3, 3), 1)
        scale, shift = normal(filters, 2), normal(filters, 3)
        planes, pixels = images * filters, height * width
        out = cp.empty((images, filters, height // 2, width // 2), cp.float32)
        pool_grid = blocks(width, 64), blocks(height, 16), planes
        shape = channels, filters, height, width
        if name != "conv_bn_relu_pool_separate":
            args = x, weights, scale, shift, out, *shape
            if name == "conv_bn_relu_pool_filters":
                pool_grid = *pool_grid[:2], images * blocks(filters, 8)
            launches = (KernelCall(_kernel(name), pool_grid, (32, 8), args),)
        else:
            middle = cp.empty((images, filters, height, width), cp.float32)
            grid = blocks(width, 32), blocks(height, 8), planes
            normed = middle, scale, shift, filters, pixels
            launches = (
                KernelCall(_kernel("conv3x3"), grid, (32, 8), (x, weights, middle, *shape)),
                KernelCall(_kernel("batchnorm"), (blocks(pixels, 256), planes), 256, normed),
                KernelCall(_kernel("relu"), blocks(middle.size, 256), 256, (middle, middle.size)),
                KernelCall(_kernel("maxpool2x2"), pool_grid, (32, 8), (middle, out, height, width)),
            )
        return Work(
            launches,
            output=out,
            expected=lambda: _conv_expected(x, weights, scale, shift),
            rtol=1e-5,
            atol=1e-5 * (9 * channels) ** 0.5,
            libraries=_conv_libraries(x, weights, scale, shift) if torch_on_gpu() else {},
        )

    return make


def _conv_expected(x: Any, weights: Any, scale: Any, shift: Any) -> Any:
    _, _, height, width = x.shape
    padded = cp.pad(double(x), ((0, 0), (0, 0), (1, 1), (1, 1)))
    total = 0.0
    for dy in range(3):
        for dx in range(3):
            part = padded[:, :, dy : dy + height, dx : dx + width]
            total = total + cp.einsum("nchw,fc->nfhw", part, double(weights[:, :, dy, dx]))
    total = double(scale)[:, None, None] * total + double(shift)[:, None, None]
    total = cp.maximum(total, 0.0)[:, :, : height // 2 * 2, : width // 2 * 2]
    largest = cp.maximum(total[:, :, ::2], total[:, :, 1::2])
    return cp.maximum(largest[:, :, :, ::2], largest[:, :, :, 1::2])


def _conv_libraries(*arrays: Any) -> dict[str, Callable[[], Any]]:
    torch = torch_on_gpu()
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    tensors = _tensors(*arrays)
    return {
        "torch eager": lambda: _torch_conv(*tensors),
        "torch.compile": lambda: _compiled(_torch_conv)(*tensors),
    }


def _torch_conv(x: Any, weights: Any, scale: Any, shift: Any) -> Any:
    functional = torch_on_gpu().nn.functional
    y = functional.conv2d(x, weights, padding=1)
    y = functional.relu(scale[:, None, None] * y + shift[:, None, None])
    return functional.max_pool2d(y, 2)


def _conv_case(name: str, *files: str) -> Case:
    return Case(
        name,
        "conv 3x3, batchnorm, ReLU, pool",
        _files(*files),
        _conv(name),
        bytes=lambda s: 4 * s[0] * s[3] * s[4] * (s[1] + s[2] // 4),
        flops=lambda s: 18 * s[0] * s[1] * s[2] * s[3] * s[4],
        gpu_sizes=((32, 3, 16, 224, 224),),
        test_sizes=((1, 1, 1, 2, 2), (2, 3, 5, 7, 9), (1, 2, 3, 33, 68)),
    )


CASES = (
    Case(
        "vec_add",
        "vector addition, fp32",
        _files("vec_add"),
        _vec_add,
        bytes=lambda n: 3 * 4 * n,
        flops=lambda n: n,
        gpu_sizes=(1 << 20, 1 << 28),
        emulator_size=1 << 20,
    ),
    Case(
        "vec_add_vector",
        "vector addition, fp32",
        _files("vec_add_vector"),
        _vec_add_vector,
        bytes=lambda n: 3 * 4 * n,
        flops=lambda n: n,
        gpu_sizes=(1 << 20, 1 << 28),
        test_sizes=(4, 260, 1012),
    ),
    _copy_case("copy", "copy", "copy, fp32", _copy("copy", library=True)),
    _copy_case(
        "copy_vector",
        "copy_vector",
        "copy, fp32",
        _copy("copy_vector", at_once=4, library=True),
        test_sizes=(4, 260, 1012),
    ),
    *(
        _copy_case(
            f"copy_offset_{k}",
            "copy_offset",
            "copy from an offset on",
            _copy("copy_offset", k, first=k),
        )
        for k in (0, 1, 8)
    ),
    *(
        _copy_case(
            f"copy_strided_{k}",
            "copy_strided",
            "copy of every k-th element",
            _copy("copy_strided", k, step=k),
            gpu_sizes=(1 << 25,),
        )
        for k in (1, 2, 4, 8, 16, 32)
    ),
    _fall_case("fall_aos"),
    _fall_case("fall_soa"),
    Case(
        "image_blur",
        "blur of a picture, fp32",
        _files("image_blur"),
        _blur,
        bytes=lambda size: 8 * size[0] * size[1],
        flops=lambda size: 25 * size[0] * size[1],
        gpu_sizes=(),
        emulator_size=(512, 512),
        test_sizes=((1, 1), (2, 40), (37, 50)),
    ),
    _transpose_case("transpose_naive"),
    _transpose_case("transpose_shared"),
    _transpose_case("transpose_padded", emulator_size=(512, 512)),
    _transpose_case("transpose_swizzled"),
    _transpose_case("transpose_vector", test_sizes=((4, 4), (36, 132), (128, 4), (64, 192))),
    _sum_case("sum_atomic"),
    _sum_case("sum_shared_interleaved"),
    _sum_case("sum_shared_sequential"),
    _sum_case("sum_warp_shuffle", emulator_size=1 << 18),
    _sum_case("sum_vector"),
    _sum_case("sum_single_pass", gpu_sizes=(1 << 28, 1 << 30)),
    _histogram_case("histogram_global"),
    _histogram_case("histogram_shared"),
    _histogram_case("histogram_aggregated"),
    _histogram_case("histogram_vector"),
    _histogram_case("histogram_global", equal=True),
    _histogram_case("histogram_shared", equal=True),
    _histogram_case("histogram_aggregated", equal=True),
    _branch_case("branch_by_thread", 1),
    _branch_case("branch_by_warp", 32),
    _branch_case("branch_free", 1),
    _chain_case("chain_separate", "chain_affine", "chain_silu", "chain_dropout", "chain_residual"),
    _chain_case("chain_fused", "chain_fused"),
    _chain_case("chain_fused_vector", "chain_fused_vector", test_sizes=(4, 260, 1012)),
    _dropout_case("dropout_backward_stored"),
    _dropout_case("dropout_backward_recomputed"),
    _conv_case("conv_bn_relu_pool_separate", "conv3x3", "batchnorm", "relu", "maxpool2x2"),
    _conv_case("conv_bn_relu_pool", "conv_bn_relu_pool"),
    _conv_case("conv_bn_relu_pool_filters", "conv_bn_relu_pool_filters"),
    *(
        _copy_case(
            f"copy_in_flight_{k}",
            "copy_in_flight",
            "copy, k elements a thread",
            _copy("copy_in_flight", at_once=k, ITEMS=k),
        )
        for k in (1, 2, 4, 8, 16, 32, 64)
    ),
    *(
        _copy_case(
            f"copy_shared_limit_{k}",
            "copy_shared_limit",
            "copy, k KB of shared memory a block",
            _copy("copy_shared_limit", shared_mem=1024 * k),
        )
        for k in (1, 28, 56, 113, 226)
    ),
)
