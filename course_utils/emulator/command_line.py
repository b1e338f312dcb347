"""``cuda-emulator FILE``: run a kernel of a PTX or CUDA file, under every check."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .findings.next_steps import next_step
from .findings.options import ALL_CHECKS, Options
from .findings.report import Finding, KernelFault
from .isa.ptx import PtxError, Variable
from .languages import is_script
from .launching.emulated_module import EmulatedModule, KernelEntry

WORDS = (
    "a number, null, a .npy file, or zeros(N), ones(N), arange(N), random(N), with more extents "
    "for more dimensions and a dtype at the end where it isn't float32: zeros(64,32,int32)"
)
EXAMPLE = """\
example, for `__global__ void scale(float* x, float a, int n)`:
  cuda-emulator scale.ptx --grid 4 --block 256 --args "arange(1000)" 2 1000

exit status: 0 if nothing was found, 1 if something was, 2 if the launch couldn't be made
"""
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
MAKERS = ("zeros", "ones", "arange", "random")
CALL = re.compile(r"(\w+)\(([^()]*)\)")
MAIN = re.compile(r"\bint\s+main\s*\(")
ARCH = "compute_90a"
NO_DEVICE_RUNTIME = "required runtime APIs are not declared"  # the compiler's words


class BadRequest(ValueError):
    """The command line asks for something that can't be launched. The message says why."""


def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    made = argparse.ArgumentParser(
        prog="cuda-emulator",
        description="Run a CUDA kernel without a GPU, under every check. For a whole program, with "
        "its main, or a Python program that launches kernels of Triton, Numba or Warp: "
        "cuda-emulator run PROGRAM.cu -- ARGUMENTS",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help=".ptx, or .cu without host code. Several are linked, as nvcc -rdc=true does",
    )
    made.add_argument("--kernel", help="its name, if the file has several")
    made.add_argument("--grid", default="1", metavar="X[,Y[,Z]]", help="blocks (1)")
    made.add_argument("--block", default="32", metavar="X[,Y[,Z]]", help="threads per block (32)")
    made.add_argument("--args", nargs="*", default=[], metavar="WORD", help=f"in order: {WORDS}")
    made.add_argument(
        "--shared", type=int, default=0, metavar="BYTES", help="dynamic shared memory"
    )
    made.add_argument("--arch", default=ARCH, help=f"for .cu files ({ARCH})")
    made.add_argument("--seed", type=int, default=0, help="of random(…) (0)")
    return made


def main(words: Sequence[str] | None = None) -> int:
    """Run the kernel that the command line names, and return the exit status."""
    words = sys.argv[1:] if words is None else words
    if list(words[:1]) == ["run"]:
        if is_script(words[1:]):
            from .languages import script_command

            return script_command.main(words[1:])
        from .programs import run_command

        return run_command.main(words[1:])
    asked = parser().parse_args(words)
    try:
        return _run(asked)
    except KernelFault as fault:
        _print([*fault.earlier, fault.finding])
        return 1
    except (BadRequest, PtxError, OSError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 2


def _print(findings: Sequence[Finding]) -> None:
    """Each finding, and then the next step for each cause."""
    for finding in findings:
        print(finding.message)
    for step in dict.fromkeys(map(next_step, findings)):
        print(f"next: {step}")


def _run(asked: argparse.Namespace) -> int:
    linked = len(asked.files) > 1
    module = EmulatedModule(*(_ptx(file, asked.arch, linked) for file in asked.files))
    kernel = _chosen(module, asked.kernel, asked.files[0])
    grid, block = (_extents(word) for word in (asked.grid, asked.block))
    values = arguments(kernel, asked.args, np.random.default_rng(asked.seed))
    before = [value.copy() if isinstance(value, np.ndarray) else value for value in values]
    try:
        result = kernel.launch(
            grid,
            block,
            values,
            asked.shared,
            [f"argument {number}" for number in range(1, len(values) + 1)],
            Options(checks=ALL_CHECKS),
        )
    except ValueError as error:
        raise BadRequest(str(error)) from None
    if result.printed:
        print(result.printed, end="")
    _print(result.findings)
    print(f"{len(result.findings) or 'No'} finding{'' if len(result.findings) == 1 else 's'}.")
    for number, (old, new) in enumerate(zip(before, values, strict=True), 1):
        if isinstance(old, np.ndarray) and old.tobytes() != new.tobytes():
            text = np.array2string(new, precision=5, threshold=16, edgeitems=4)
            print(f"\nargument {number} = {text}  ({new.dtype})")
    return 1 if result.findings else 0


def _ptx(file: Path, arch: str, linked: bool) -> str:
    """The PTX of a file. A ``.cu`` file is compiled."""
    text = file.read_text(encoding="utf-8")
    return text if file.suffix == ".ptx" else compile_cuda(text, file, arch, linked)


def compile_cuda(text: str, file: Path, arch: str = ARCH, linked: bool = False) -> str:
    """The PTX of CUDA C++ for ``arch``, with line tables. ``linked``: with another file's, or with
    the device runtime, which code needs that launches kernels from kernels.

    Raises BadRequest with the compiler's log, or if the compiler isn't installed.
    """
    try:
        from cuda.bindings import nvrtc
    except ImportError:
        raise BadRequest(
            "A .cu file needs NVIDIA's compiler: pip install 'cuda-emulator[nvrtc]'. Or compile it "
            "elsewhere: nvcc -ptx -lineinfo."
        ) from None

    def ask(answer: tuple[Any, ...]) -> Any:
        status, *values = answer
        if int(status):
            raise BadRequest(f"NVRTC: {status.name}")
        return values[0] if values else None

    program = ask(nvrtc.nvrtcCreateProgram(text.encode(), str(file).encode(), 0, [], []))
    folders = [file.parent, *(Path(path) / "nvidia/cuda_runtime/include" for path in sys.path)]
    flags = [f"--gpu-architecture={arch}", "-std=c++17", "-lineinfo"]
    flags += ["-rdc=true"] * linked
    flags += [f"-I{folder}" for folder in folders if folder.is_dir()]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags])
    if int(status):
        log = bytearray(ask(nvrtc.nvrtcGetProgramLogSize(program)))
        ask(nvrtc.nvrtcGetProgramLog(program, log))
        said = log.decode("utf-8", "replace").strip("\0 \n")
        if NO_DEVICE_RUNTIME in said and not linked and not MAIN.search(text):
            return compile_cuda(text, file, arch, linked=True)
        if MAIN.search(text):
            said += f"\n{file.name} has a main. Run the whole program: cuda-emulator run {file}"
        raise BadRequest(said)
    ptx = bytearray(ask(nvrtc.nvrtcGetPTXSize(program)))
    ask(nvrtc.nvrtcGetPTX(program, ptx))
    return ptx.decode().rstrip("\0")


def _chosen(module: EmulatedModule, name: str | None, file: Path) -> KernelEntry:
    names = module.entries
    if name is None and len(names) == 1:
        return module.entry(names[0])
    if name not in names:
        there = ", ".join(names) or 'none: has it an extern "C" __global__ function?'
        what = f"no kernel {name!r}" if name else "several kernels or none: choose with --kernel"
        raise BadRequest(f"{file.name} has {what}. Its kernels: {there}.")
    return module.entry(name)


def _extents(word: str) -> tuple[int, ...]:
    parts = word.split(",")
    if len(parts) > 3 or not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise BadRequest(
            f"A grid or a block is one to three positive integers, 4 or 4,2, not {word!r}."
        )
    return tuple(map(int, parts))


def arguments(kernel: KernelEntry, words: Sequence[str], random: np.random.Generator) -> list[Any]:
    """A value for each parameter: arrays, and NumPy scalars of the parameter's own size.

    Raises BadRequest for a word that isn't understood, and for too many or too few.
    """
    parameters = kernel.function.parameters
    if len(words) != len(parameters):
        raise BadRequest(f"{kernel.name} takes {len(parameters)} arguments, not {len(words)}.")
    return [_value(word.strip(), p, random) for word, p in zip(words, parameters, strict=True)]


def _value(word: str, parameter: Variable, random: np.random.Generator) -> Any:
    if word == "null":
        return np.uint64(0)
    if word.endswith(".npy"):
        return np.load(word, allow_pickle=False)
    if (call := CALL.fullmatch(word)) and call[1] in MAKERS:
        return _array(call[1], call[2], random)
    try:
        if parameter.type in DTYPES:
            return DTYPES[parameter.type](word)
        return np.frombuffer(
            (int(word, 0) % (1 << 8 * parameter.size)).to_bytes(parameter.size, "little"),
            f"u{parameter.size}",
        )[0]
    except (ValueError, TypeError):
        raise BadRequest(
            f"{word!r} is no value for {parameter.name} (.{parameter.type}). Write {WORDS}."
        ) from None


def _array(maker: str, inside: str, random: np.random.Generator) -> np.ndarray:
    parts = [part.strip() for part in inside.split(",") if part.strip()]
    dtype = np.dtype(np.float32)
    if parts and not parts[-1].isdigit():
        try:
            dtype = np.dtype(parts.pop())
        except TypeError:
            raise BadRequest(f"{maker}({inside}): {inside.split(',')[-1]!r} is no dtype.") from None
    if not parts or not all(part.isdigit() for part in parts):
        raise BadRequest(f"{maker}({inside}): write its extents, as in {maker}(1000).")
    shape = tuple(map(int, parts))
    if maker == "zeros":
        return np.zeros(shape, dtype)
    if maker == "ones":
        return np.ones(shape, dtype)
    if maker == "arange":
        return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)
    if dtype.kind in "fc":
        return random.uniform(-1, 1, shape).astype(dtype)
    return random.integers(0, 100, shape).astype(dtype)
