"""The emulator beside a GPU, and beside a second evaluation that needs none.

On a machine with an NVIDIA GPU, from the repository's root:

    python -m tests.emulator.fidelity FOLDER

runs the same kernels on both devices and writes FOLDER/fidelity.json; committed beside this file as
fidelity_gpu.json, it becomes part of the report. On any machine

    python -m tests.emulator.fidelity --here

compares random programs and kernels with a second evaluation, writes fidelity_emulator.json beside
this file, and FIDELITY.md from both records.

The parts run in processes of their own, several at a time. Each writes one line of JSON for every
form, program or kernel as it is compared, so that a part that ends early loses only the rest.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

PAGE = ROOT / "course_utils" / "emulator" / "FIDELITY.md"
ON_EMULATOR, ON_GPU = HERE / "fidelity_emulator.json", HERE / "fidelity_gpu.json"
SECONDS = 170  # for all parts together
PROGRAMS, KERNELS = 1920, 480
# Tests whose kernels also run on the GPU, launch by launch.
TESTS = (
    "test_programs",
    "test_matrix",
    "test_wgmma",
    "test_async",
    "test_mbarrier",
    "test_clusters",
)
# part -> in how many processes
PARTS = {
    "forms": 4,
    "programs": 8,
    "kernels": 4,
    "course": 4,
    "exercises": 3,
    "departures": 1,
    **{f"tests:{name}": 1 for name in TESTS},
}
MATRIX_ERROR = 1e-3  # of the largest number; only sums of tensor cores may differ
EQUAL, CLOSE, DIFFERENT, SKIPPED = "equal", "close", "different", "skipped"
DEPARTS = "departs"  # as departures.py says
# Tests whose kernels may rightly leave more than one result.
OPEN = {
    "test_one_thread_wins_a_compare_and_swap": "which thread is first is open",
    "test_clocks_go_forward": "clocks differ",
    "test_a_try_wait_that_nobody_completes_may_return_false": "`try_wait` may return either",
}
CONTEXT_LOST = 17  # exit status of a process whose GPU context a kernel has ended


# -- comparing -------------------------------------------------------------------------------------


def record(name: str, verdict: str, **facts: Any) -> dict[str, Any]:
    return {"name": name, "verdict": verdict, **facts}


def same_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Elements with equal bytes, or both NaN."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    equal = (a.reshape(-1).view(np.uint8) == b.reshape(-1).view(np.uint8)).reshape(a.size, -1)
    equal = equal.all(1)
    return equal | ((a != a) & (b != b)).reshape(-1) if a.dtype.kind == "f" else equal


def difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference relative to the largest number; inf where only one is finite."""
    if ours.dtype.kind != "f":
        return float("inf")
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    if not (finite | (a == b) | (np.isnan(a) & np.isnan(b))).all():
        return float("inf")
    largest = np.abs(b[finite]).max(initial=0.0)
    return float(np.abs(a - b)[finite].max(initial=0.0) / (largest or 1.0))


def on_gpu(
    text: str, name: str, grid, block, arrays, shared: int = 0, variables=None
) -> list[np.ndarray]:
    """The arguments after a launch of a kernel in PTX; arrays are copied, scalars passed on.

    ``variables``: name -> bytes of the module's variables, set before and read back after.
    """
    import cupy

    module = cupy.cuda.function.Module()
    module.load(text.encode())
    function = module.get_function(name)
    if shared > 48 * 1024:
        cupy.cuda.driver.funcSetAttribute(function.ptr, 8, shared)
    there = [
        cupy.asarray(x.reshape(-1).view(np.uint8)) if isinstance(x, np.ndarray) else x
        for x in arrays
    ]
    host = [(value, module.get_global_var(name)) for name, value in (variables or {}).items()]
    for value, address in host:
        cupy.cuda.runtime.memcpy(int(address), value.ctypes.data, value.nbytes, 1)
    whole_grid = "%envreg" in text  # how a grid that waits for itself knows its launch
    function(
        _triple(grid),
        _triple(block),
        tuple(there),
        shared_mem=shared,
        enable_cooperative_groups=whole_grid,
    )
    cupy.cuda.runtime.deviceSynchronize()
    for value, address in host:
        cupy.cuda.runtime.memcpy(value.ctypes.data, int(address), value.nbytes, 2)
    return [
        cupy.asnumpy(y).view(x.dtype).reshape(x.shape) if isinstance(x, np.ndarray) else x
        for x, y in zip(arrays, there, strict=True)
    ]


def _triple(value) -> tuple[int, int, int]:
    value = (value,) if isinstance(value, int) else tuple(int(v) for v in value)
    return (*value, 1, 1)[:3]


# -- the parts -------------------------------------------------------------------------------------


def forms(part: int, parts: int) -> Iterator[dict]:
    """Every form of an instruction that computes a value, on 8,192 operands."""
    import instruction_forms as table

    everything = [*dict.fromkeys(table.EXACT), *table.CLOSE]
    for form in everything[part::parts]:
        found = table.both(form)
        if found is None:
            yield record(form, SKIPPED, why="the driver refuses it")
            continue
        sources, ours, device = found
        if form in table.CLOSE:
            error = float(table.errors(form, ours[0], device[0]).max())
            verdict = CLOSE if error <= table.CLOSE[form] else DIFFERENT
            equal = int(same_bits(ours[0], device[0]).sum())
            yield record(form, verdict, error=error, bound=table.CLOSE[form], equal=equal)
            continue
        why = ""
        for mine, theirs in zip(ours, device, strict=True):
            lanes = table.differing(form, mine, theirs)
            if lanes.any():
                why = table.explain(form, sources, mine, theirs, lanes)
        yield record(form, DIFFERENT, why=why) if why else record(form, EQUAL)


def programs(part: int, parts: int) -> Iterator[dict]:
    """Random programs in PTX: every register at the end."""
    import random_programs as random
    from instruction_forms import CLOSE as BOUNDS
    from instruction_forms import errors

    from course_utils.emulator import EmulatedModule

    for seed in range(part, PROGRAMS, parts):
        program = random.program(seed)
        outputs = program.outputs()
        entry = EmulatedModule(program.text).entry("run")
        entry.launch(random.BLOCKS, random.THREADS, [program.words, *outputs])
        _, *theirs = on_gpu(
            program.text, "run", random.BLOCKS, random.THREADS, [program.words, *program.outputs()]
        )
        wrong = np.argwhere(outputs[0] != theirs[0])
        pairs = zip(
            program.close,
            program.approximations(outputs[1]),
            program.approximations(theirs[1]),
            strict=True,
        )
        far = [form for form, a, b in pairs if not _largest(form, a, b, errors) <= BOUNDS[form]]
        facts: dict[str, Any] = {}
        if len(wrong):
            n, lane = wrong[0]
            facts["why"] = (
                f"{random.NAMES[n]} of lane {lane}: ours {outputs[0][n, lane]:#x}, "
                f"GPU {theirs[0][n, lane]:#x}; {len(wrong)} values differ"
            )
        elif far:
            facts["why"] = f"outside their bounds: {', '.join(far)}"
        if facts:
            facts["forms"] = sorted(set(program.forms))
        yield record(str(seed), DIFFERENT if facts else EQUAL, **facts)


def _largest(form, ours, theirs, errors) -> float:
    found = errors(form, ours, theirs)
    return float("inf") if np.isnan(found).any() else float(found.max())


def kernels(part: int, parts: int) -> Iterator[dict]:
    """Random kernels in CUDA C++: every variable at the end, and NumPy's answer."""
    import random_kernels as random

    from course_utils.compiling.nvrtc import compile_ptx
    from course_utils.emulator import EmulatedModule

    for seed in range(part, KERNELS, parts):
        kernel = random.kernel(seed)
        text = compile_ptx(kernel.source, filename="random.cu")
        ours, shape = np.zeros_like(kernel.words), (random.BLOCKS, random.THREADS)
        EmulatedModule(text).entry("run").launch(*shape, [kernel.words, ours])
        _, theirs = on_gpu(text, "run", *shape, [kernel.words, np.zeros_like(ours)])
        facts: dict[str, Any] = {"statements": kernel.statements}
        want, mine, device = kernel.expected(), kernel.values(ours), kernel.values(theirs)
        wrong = [n for n in random.NAMES if not random.same(mine[n], device[n]).all()]
        third = [n for n in random.NAMES if not random.same(mine[n], want[n]).all()]
        if wrong or third:
            facts["why"] = f"differ: {wrong}; NumPy differs from ours: {third}"
        yield record(str(seed), DIFFERENT if wrong or third else EQUAL, **facts)


def departures(part: int, parts: int) -> Iterator[dict]:
    """What NVIDIA's assembler is known to translate otherwise than the manual says."""
    from departures import DEPARTURES

    for departure in DEPARTURES[part::parts]:
        (theirs,) = on_gpu(departure.text, "run", 1, 1, departure.arguments())
        found = int(theirs[0])
        verdict = {departure.manual: EQUAL, departure.silicon: DEPARTS}.get(found, DIFFERENT)
        yield record(departure.name, verdict, gpu=found, why=f"the GPU left {found:#x}")


def course(part: int, parts: int) -> Iterator[dict]:
    """Every kernel that the course measures, at its test sizes."""
    from course_utils.benchmarks import CASES

    runs = [(case, n) for case in CASES for n in case.test_sizes]
    for case, n in runs[part::parts]:
        name = f"{case.name} {n}"
        work = case.make(n)
        work.poison()
        twin = work.on_emulator()
        work()
        twin()
        ours, theirs = np.asarray(twin.output.get()), np.asarray(work.output.get())
        if same_bits(ours, theirs).all():
            yield record(name, EQUAL)
            continue
        wrong = work.wrong() or twin.wrong()
        fine = not work.same_bits and not wrong
        why = wrong or ("" if fine else "the bits differ")
        error = difference(twin.numbers(ours), twin.numbers(theirs))
        yield record(name, CLOSE if fine else DIFFERENT, error=error, why=why)


def exercises(part: int, parts: int) -> Iterator[dict]:
    """Every exercise's solution, at its small sizes."""
    from course_utils.checking import judge
    from course_utils.devices import emulated_cupy
    from course_utils.devices.selection import cp
    from course_utils.exercises.authoring.registry import all_exercises
    from course_utils.exercises.authoring.spec import KernelExercise

    found = [e for e in all_exercises() if isinstance(e, KernelExercise)]
    for exercise in found[part::parts]:
        for size in exercise.small:
            given = exercise.inputs(np.random.default_rng(1), size)
            expected = exercise.expected(given)
            ours = _solve(exercise, given, size, "emulator", emulated_cupy)
            theirs = _solve(exercise, given, size, "cuda", cp)
            name = f"{exercise.id} {size}"
            if all(same_bits(ours[k], theirs[k]).all() for k in expected):
                yield record(name, EQUAL)
                continue
            verdicts = [
                judge(arrays[k], want, name=k, reduction=exercise.reduction(size))
                for arrays in (ours, theirs)
                for k, want in expected.items()
            ]
            error = max(difference(ours[k], theirs[k]) for k in expected)
            fine = all(v.passed for v in verdicts)
            why = "" if fine else "; ".join(v.message for v in verdicts if not v.passed)
            yield record(name, CLOSE if fine else DIFFERENT, error=error, why=why)


def _solve(exercise, given, size, device: str, space) -> dict[str, np.ndarray]:
    from course_utils.exercises.authoring.launches import Empty
    from course_utils.launching.modules import load

    module = load(source=exercise.solution, defines=exercise.defines, device=device)
    values = {}
    for name, value in given.items():
        if isinstance(value, Empty):
            value = np.full(value.shape, 0x5A, value.dtype)
        values[name] = space.array(value) if isinstance(value, np.ndarray) else value
    passed = exercise.passed(values)
    for step in exercise.launches(size):
        kernel = module[step.kernel or exercise.kernel]
        chosen = tuple(passed[name] for name in step.arguments or passed)
        kernel(step.grid, step.block, chosen, shared_mem=step.shared)
    return {k: np.asarray(v.get()) for k, v in values.items() if hasattr(v, "get")}


def tests(name: str, file: Path) -> None:
    """Every launch of a test file that the sanitizer finds nothing in, on the GPU as well.

    A kernel that ends the process or its GPU context costs no other test: the next process goes on
    behind it.
    """
    begun = 0
    while True:
        command = [sys.executable, "-m", "tests.emulator.fidelity", "--tests", name]
        status = subprocess.run([*command, str(file), str(begun)], cwd=ROOT).returncode
        if status in (0, 1):  # pytest's own: all passed, some failed
            return
        lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        names = [line["begun"] for line in lines if "begun" in line]
        if len(names) == begun:
            raise RuntimeError(f"{name} ended with status {status} before its first test")
        begun = len(names)
        if status != CONTEXT_LOST:
            what = signal.Signals(-status).name if status < 0 else f"status {status}"
            why = f"the driver ends the process with {what}"
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(record(names[-1], SKIPPED, why=why)) + "\n")


def run_tests(name: str, put: Callable[[dict], None], first: int) -> int:
    """Run a test file from its test number ``first``; the status pytest ends with."""
    import cupy
    import pytest

    from course_utils.emulator import ALL_CHECKS, EmulatedModule, KernelEntry, Options

    test = [""]
    plain_init, plain_launch = EmulatedModule.__init__, KernelEntry.launch

    def init(self, text):
        plain_init(self, text)
        self.text = text

    def launch(self, grid, block, args, shared=0, names=(), options=None):
        options = options or Options()
        ours = _variables(self.module)
        before, theirs = _copies(args), {k: v.copy() for k, v in ours.items()}
        result = plain_launch(self, grid, block, args, shared, names, options)
        why = OPEN.get(test[0], "") or _not_for_a_gpu(self, args, options)
        if not why:
            kept = {k: v.copy() for k, v in ours.items()}
            again = replace(options, checks=ALL_CHECKS, counters=False, trace=None)
            if plain_launch(self, grid, block, _copies(before), shared, names, again).findings:
                why = "the sanitizer has findings"
            for k, v in kept.items():
                ours[k][...] = v
        if why:
            put(record(test[0], SKIPPED, why=why))
            return result
        try:
            on_device = on_gpu(self.module.text, self.name, grid, block, before, shared, theirs)
        except Exception as error:  # the driver's word is the result
            put(record(test[0], SKIPPED, why=str(error)[:200]))
            try:
                cupy.cuda.runtime.deviceSynchronize()
            except cupy.cuda.runtime.CUDARuntimeError:
                os._exit(CONTEXT_LOST)
            return result
        pairs = [(x, y) for x, y in zip(args, on_device, strict=True) if isinstance(x, np.ndarray)]
        pairs += [(ours[k], theirs[k]) for k in ours]
        if all(same_bits(x, y).all() for x, y in pairs):
            put(record(test[0], EQUAL))
        else:
            error = max(difference(x, y) for x, y in pairs if not same_bits(x, y).all())
            put(record(test[0], CLOSE if error < MATRIX_ERROR else DIFFERENT, error=error))
        return result

    class Names:
        def pytest_collection_modifyitems(self, items):
            del items[:first]

        def pytest_runtest_setup(self, item):
            test[0] = item.name
            put({"begun": item.name})

    EmulatedModule.__init__, KernelEntry.launch = init, launch
    options = ["-q", "-p", "no:cacheprovider", str(HERE / f"{name}.py")]
    return int(pytest.main(options, plugins=[Names()]))


def _variables(module) -> dict[str, np.ndarray]:
    """The bytes of a module's variables in global and constant memory that hold no addresses."""
    return {
        name: module.region_of(name).storage
        for name, variable in module.variables.items()
        if variable.space in ("global", "const")
        and re.fullmatch(r"[-+\sxa-fA-F\d{},]*", variable.initial or "")
    }


def _copies(args) -> list:
    return [x.copy() if isinstance(x, np.ndarray) else x for x in args]


def _not_for_a_gpu(entry, args, options) -> str:
    if entry.tensor_memory:
        return "tcgen05 needs another GPU"
    if options.cluster:
        return "the launch asks for a cluster"
    if any(getattr(x, "dtype", None) == "V128" for x in args):
        return "a tensor map of the emulator's"
    if any(isinstance(x, bytes) for x in args):
        return "a parameter passed as bytes"
    return ""


# -- running them ----------------------------------------------------------------------------------


def run_part(name: str, part: int, parts: int, file: Path) -> None:
    file.write_text("", encoding="utf-8")
    kind, _, which = name.partition(":")
    if kind == "tests":
        tests(which, file)
    with file.open("a", encoding="utf-8", buffering=1) as out:
        for item in [] if kind == "tests" else globals()[kind](part, parts):
            out.write(json.dumps(item) + "\n")
        out.write(json.dumps({"finished": True}) + "\n")


def run_all(folder: Path) -> dict[str, Any]:
    """Start every part, wait for at most :data:`SECONDS`, and gather what was found."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    deadline, running = time.monotonic() + SECONDS, []
    for name, parts in PARTS.items():
        for part in range(parts):
            stem = f"{name.replace(':', '-')}-{part}"
            command = [sys.executable, "-m", "tests.emulator.fidelity", "--part", name]
            command += [str(part), str(parts), str(folder / f"{stem}.jsonl")]
            with (folder / f"{stem}.log").open("w") as log:
                running.append(
                    subprocess.Popen(
                        command,
                        cwd=ROOT,
                        env=environment,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                    )
                )
    for process in running:
        try:
            process.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with the processes that it started
    found: dict[str, Any] = {"machine": machine_facts(), "parts": {}, "unfinished": []}
    for name, parts in PARTS.items():
        items = []
        for part in range(parts):
            file = folder / f"{name.replace(':', '-')}-{part}.jsonl"
            lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
            items += [json.loads(line) for line in lines if line.endswith("}")]
            if {"finished": True} not in items[-1:]:
                found["unfinished"].append(f"{name} {part}")
        found["parts"][name] = [item for item in items if "name" in item]
    return found


def machine_facts() -> dict[str, str]:
    """The GPU, its driver, the versions of what compiled and computed, and the day."""
    import cupy

    from course_utils.compiling.bindings import nvrtc_version

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    return {
        "gpu": properties["name"].decode(),
        "driver": str(cupy.cuda.runtime.driverGetVersion()),
        "nvrtc": ".".join(map(str, nvrtc_version())),
        "numpy": np.__version__,
        "date": datetime.date.today().isoformat(),
    }


# -- without a GPU, and the report -----------------------------------------------------------------


def here() -> dict[str, Any]:
    """Random programs and kernels on the emulator, and what a second evaluation makes of them."""
    import random_kernels
    import random_programs

    from course_utils.compiling.bindings import nvrtc_version
    from course_utils.compiling.nvrtc import compile_ptx
    from course_utils.emulator import EmulatedModule

    used: set[str] = set()
    first = {"count": PROGRAMS, "instructions": 0, "lanes": random_programs.LANES, "equal": 0}
    for seed in range(PROGRAMS):
        program = random_programs.program(seed)
        outputs = program.outputs()
        entry = EmulatedModule(program.text).entry("run")
        entry.launch(random_programs.BLOCKS, random_programs.THREADS, [program.words, *outputs])
        registers, close = program.expected()
        pairs = zip(program.approximations(outputs[1]), close, strict=True)
        same = all(a.tobytes() == b.tobytes() for a, b in pairs)
        first["equal"] += bool(same and (outputs[0] == registers).all())
        first["instructions"] += program.instructions
        used.update(program.forms)
    second = {"count": KERNELS, "statements": 0, "lanes": random_kernels.LANES, "equal": 0}
    for seed in range(KERNELS):
        kernel = random_kernels.kernel(seed)
        out = np.zeros_like(kernel.words)
        entry = EmulatedModule(compile_ptx(kernel.source, filename="random.cu")).entry("run")
        entry.launch(random_kernels.BLOCKS, random_kernels.THREADS, [kernel.words, out])
        got, want = kernel.values(out), kernel.expected()
        second["equal"] += all(random_kernels.same(got[n], want[n]).all() for n in want)
        second["statements"] += kernel.statements
    return {
        "nvrtc": ".".join(map(str, nvrtc_version())),
        "numpy": np.__version__,
        "programs": {**first, "forms": len(used)},
        "kernels": {**second, "operations": len(random_kernels.OPERATIONS)},
    }


WORDS = {
    "forms": "forms of instructions that compute a value, on 8,192 operands each",
    "programs": "random programs in PTX, every register at the end",
    "kernels": "random kernels in CUDA C++, every variable at the end, and NumPy's answer",
    "course": "kernels that the course measures, at each of their test sizes",
    "exercises": "solutions of exercises, at each of their small sizes",
    **{f"tests:{name}": f"launches of `{name}.py`" for name in TESTS},
}
TEXTURES = """## Textures

60 kinds of fetch (`tests/emulator/texture_cases.py`: dimensions, layers, cubes, gathers, formats,
filters, addressing modes), most of them at 192 points, ran on an H200. `textures_h200.npz` holds
its answers, and a test holds the emulator to them. 58 are equal bit for bit. Of the other two, a
filter in three dimensions with mirrored coordinates and signed bytes read as fractions, more than
95 in 100 points are, and the rest are off by less than a thousandth of the texels' range. That
takes some things that the manuals do not say, found by comparing:

- A coordinate that goes from 0 to 1 is cut off after 21 bits of fraction before it is multiplied by
  the size: `tex1D(t, 0.001f)` of 1,000 texels is texel 0, though 0.001f is more than 1/1000.
- The weights of the texels are whole 256ths whose sum is 1. What x shares out is shared out again
  along z and then along y, each time rounded; a tie goes to the texels that are next along x.
- What is mixed of integers, or of halves, is rounded to 16 bits.
- A one-dimensional texture is a row at y = 0. Where the second addressing mode is "border" and the
  filter linear, half of every result is the border's colour.
- Channels that an element lacks are 0. Of equal coordinates of a cube z goes before y and y before
  x, and the filter does not look over the edges of a face.

"""
TENSOR_CORES = """## Sums of products on Hopper's tensor cores

`tensor_core_sums_h200.npz` holds what an H200 made of random operands in f16, bf16, tf32, e4m3 and
e5m2, and the emulator has the same bits, by `mma.sync` and by `wgmma`
(`tests/emulator/tensor_core_sums.py`). Whole kernels agree, too: on a machine with a GPU,
`test_both_devices_give_the_same_bits` compares every product and convolution of the course. No
manual says how these sums come about. What fits:

- One instruction takes the largest exponent of its products and the accumulator, cuts every term
  off 25 bits below it, adds exactly, and cuts the sum off to the 24 bits of a float. Nothing is
  rounded up. All of K is added at once: 16 products of f16 and bf16, 8 of tf32, or half as many
  where the instruction has half of that.
- A product's exponent is the sum of its factors', also where the product is one larger. A subnormal
  factor has the exponent of the least normal number. (Of fp8 the record can't tell.)
- `wgmma` with fp8 factors adds 32 products at once. It keeps 13 bits below the largest exponent,
  and 13 after the first of the sum.
- Hopper has no `mma.sync` for fp8: m16n8k32 converts to f16, multiplies with bytes 0 and 1 of each
  register and then with 2 and 3, and adds the accumulator last, rounded as any float.

f16 sums, sparse factors and m16n8k16 of fp8 numbers were not measured. They are summed exactly and
rounded once. Other targets than Hopper are added as Hopper does. The table above is older: its
kernels and launches with tensor cores were still summed like that, and so were "within the bound".

"""
TCGEN05 = """## Blackwell's tensor cores

`tcgen05`, and `mma` with a `.kind`, have run on no silicon: no Blackwell GPU was at hand. What
stands in for one:

- The fields of both descriptors, the canonical layouts in shared memory, the lanes and columns that
  each register of `ld` and `st` stands for, and where A, D and the scales lie in tensor memory were
  checked against CUTLASS 4.2 (`mma_sm100_desc.hpp`, `mma_traits_sm100.hpp`,
  `copy_traits_sm100.hpp`). The tests state those layouts as CuTe writes them, shape : stride.
- CuTe's own atoms, compiled unchanged from the headers of the wheel `nvidia-cutlass`, multiply
  right on the emulator (`tests/emulator/test_tcgen05_cute.py`). There CuTe builds every descriptor
  and chooses every register; nothing in those tests knows a layout.
- The course's own kernels for `sm_100a` use the descriptors, tiles and registers that CuTe uses,
  bit for bit (`tests/kernels/test_08_blackwell.py`). `make prove-blackwell` runs them on a B200 and
  compares with float64.
- The scales of `mma` lie where CUTLASS (`mma_traits_sm120.hpp`) has them; no atom of CuTe ran.
- `clusterlaunchcontrol` follows the PTX manual and CUDA's programming guide. How many clusters wait
  to be cancelled is this machine's own choice: a right kernel gives the same for any number. The
  wrappers of `cuda::ptx`, CUDA's own, run unchanged (`tests/emulator/test_launch_control.py`).
- `tcgen05.shift` follows a public measurement on a B200. The decompression of `tcgen05.cp` follows
  the PTX manual alone: nothing independent was found for it.
"""
ORDER = """
## The order of memory

Values are always the newest ones: a store is visible to all threads at once. A missing barrier or
fence is a finding of a check, not a wrong value. An arrival, a fence or a release by some lanes of
a warp covers what these lanes did and knew of, and nothing that the other lanes did since the warp
last met. Four rules are wider here than in the PTX manual:

- What one lane waits for, its whole warp knows.
- A fence that all lanes of a warp execute covers all of them, whichever lane then sets the flag.
- Who knows of a warp's later release knows of its earlier ones.
- An mbarrier operation with no scope reaches the cluster. By the manual it reaches its block, but
  public kernels leave out the scope. A `.release.cta` or `.acquire.cta` that another block takes
  part in is a warning.

Kernels that a kernel launches run when its grid has ended, one after another. No check looks for
races between a grid and those that it launches, or between these.

A tensor map that a kernel changes by `tensormap.replace` holds for the next copy, with or without
`fence.proxy.tensormap`.
"""


def render(emulator: dict[str, Any], gpu: dict[str, Any]) -> str:
    """The report, as Markdown."""
    programs, kernels = emulator["programs"], emulator["kernels"]
    table = f"""## Against a second evaluation, with no GPU

| what | compared | equal bit for bit |
|---|--:|--:|
| random programs in PTX | {programs["count"]} | {programs["equal"]} |
| random kernels in CUDA C++ | {kernels["count"]} | {kernels["equal"]} |

The programs have {programs["instructions"]:,} instructions of {programs["forms"]:,} different
forms, run by {programs["lanes"]} lanes; half of them part the lanes in branches and loops. They are
walked a second time as trees, all lanes at once under masks. That shares the table of values with
the machine, but neither its parser nor its registers, groups of lanes and memory.

The kernels have {kernels["statements"]:,} statements of {kernels["operations"]} operations, run by
{kernels["lanes"]} lanes. They are worked out a second time by NumPy alone, with nothing of the
emulator's. NVRTC {emulator["nvrtc"]}, NumPy {emulator["numpy"]}.
"""
    on_gpu = "\n".join(_gpu_section(gpu))
    assembler = "\n".join(_departures(gpu))
    measured = f"{on_gpu}\n{assembler}\n{TEXTURES}{TENSOR_CORES}"
    return f"{INTRODUCTION}\n{table}\n## Against a GPU\n\n{measured}{TCGEN05}{ORDER}"


INTRODUCTION = """# How close the emulator comes to a GPU

Integer arithmetic and the operations of IEEE 754 are to agree bit for bit, approximations
(`ex2.approx`, `rsqrt.approx`, …) within the error that the PTX manual allows, f32 sums of tensor
cores bit for bit with Hopper's. Written by `python -m tests.emulator.fidelity --here`; a test
holds this page equal to the records beside that script.
"""
MEANING = {
    "the sanitizer has findings": "a GPU may make anything of it",
    "the driver refuses it": "no form for sm_90",
    "the driver ends the process with SIGSEGV": "NVIDIA's compiler as a library dies of a kernel "
    "whose wgmma it cannot overlap; as a program, ptxas 13.0 compiles it",
}
ASSEMBLER = """\
## Where NVIDIA's assembler departs from the PTX manual

Of the first 480 random programs, 27 left other registers on an H200; each had an instruction of
this table. The machine code shows what ptxas (12.8, 12.9 and 13.0 alike) makes of it. Worked out
with the first two mistakes in them, 20 of the 27 have as many wrong values as on the GPU, and the
same one first. The emulator keeps to the manual, and random programs no longer draw these; alone
and without a guard, every form is compared above. `departures.py` has a kernel for each line.
"""


def _departures(gpu: dict[str, Any]) -> list[str]:
    from departures import DEPARTURES

    found = {i["name"]: i["gpu"] for i in gpu["parts"].get("departures", [])}
    return [
        ASSEMBLER,
        "| what | manual and emulator | GPU |",
        "|---|--:|--:|",
        *(
            f"| {d.what} | `{d.manual:#x}` | "
            + (f"`{found[d.name]:#x}` |" if d.name in found else "not recorded |")
            for d in DEPARTURES
        ),
        "",
    ]


def _gpu_section(gpu: dict[str, Any]) -> list[str]:
    facts = gpu["machine"]
    lines = [
        f"{facts['gpu']}, driver {facts['driver']}, NVRTC {facts['nvrtc']}, {facts['date']}.",
        "",
        "| what | compared | equal bit for bit | within the bound | different | left out |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    parts = {name: items for name, items in gpu["parts"].items() if name != "departures"}
    for name, items in parts.items():
        counts = Counter(item["verdict"] for item in items)
        compared = len(items) - counts[SKIPPED]
        cells = [compared, counts[EQUAL], counts[CLOSE], counts[DIFFERENT], counts[SKIPPED]]
        lines.append(f"| {WORDS[name]} | {' | '.join(map(str, cells))} |")
    lines += ["", "Largest errors, of approximations and of sums in another order:", ""]
    for name, items in parts.items():
        errors = [(i["error"], i["name"], i.get("bound")) for i in items if i["verdict"] == CLOSE]
        if errors:
            error, where, bound = max(errors, key=lambda found: found[0] / (found[2] or 1))
            allowed = f" of {bound:.2e} allowed" if bound else ""
            lines.append(f"- {WORDS[name]}: {error:.2e}{allowed} ({where})")
    found = [(n, i) for n, items in gpu["parts"].items() for i in items]
    different = [(n, i) for n, i in found if i["verdict"] == DIFFERENT]
    if different:
        lines += ["", "What differs:", ""]
        lines += [f"- {n} {i['name']}: {i.get('why') or i.get('error')}" for n, i in different]
    left_out = Counter(i["why"].splitlines()[0] for _, i in found if i["verdict"] == SKIPPED)
    if left_out:
        lines += ["", "Left out:", ""]
        for why, count in left_out.most_common():
            lines.append(f"- {why} ({count})" + (f": {MEANING[why]}" if why in MEANING else ""))
    if gpu["unfinished"]:
        lines += ["", f"Not finished in time: {', '.join(gpu['unfinished'])}."]
    return [*lines, ""]


def report() -> str:
    """The page as the committed records have it."""
    return render(*(json.loads(p.read_text(encoding="utf-8")) for p in (ON_EMULATOR, ON_GPU)))


if __name__ == "__main__":
    if sys.argv[1] == "--part":
        run_part(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))
    elif sys.argv[1] == "--tests":
        with Path(sys.argv[3]).open("a", encoding="utf-8", buffering=1) as out:
            sys.exit(
                run_tests(
                    sys.argv[2], lambda item: out.write(json.dumps(item) + "\n"), int(sys.argv[4])
                )
            )
    elif sys.argv[1] == "--here":
        ON_EMULATOR.write_text(json.dumps(here(), indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(report(), encoding="utf-8")
    else:
        target = Path(sys.argv[1])
        result = run_all(target)
        (target / "fidelity.json").write_text(json.dumps(result), encoding="utf-8")
        for name, items in result["parts"].items():
            print(name, dict(Counter(item["verdict"] for item in items)))
        print("unfinished:", result["unfinished"])
