"""Kernels of Triton, Numba and Warp on the emulator: recorded PTX everywhere, compilers where they
are installed."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import metadata
from importlib.util import find_spec
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

from course_utils.emulator import (
    ALL_CHECKS,
    GLOBAL,
    UNINITIALISED,
    KernelFault,
    Options,
    languages,
)
from course_utils.emulator.languages import (
    host_arrays,
    numba_launches,
    prepared_launch,
    script_command,
    triton_arguments,
    triton_driver,
    triton_launches,
    warp_launches,
)
from course_utils.emulator.languages.host_arrays import HostArrays, LanguageError
from course_utils.emulator.languages.prepared_launch import FindingWarning, dimensions
from course_utils.needs import lacking
from tests.emulator.other_languages import recorded
from tests.emulator.other_languages.cases import CASES, NUMBA, TRITON, WARP, Case

EVERY = Options(checks=ALL_CHECKS)
RUN = {
    "triton": lambda case, args: triton_launches.emulated_triton(
        case.function(), case.grid, *args, arch=case.arch, **case.meta
    ),
    "numba": lambda case, args: numba_launches.emulated_numba(
        case.function(), case.grid, case.block, *args
    ),
    "warp": lambda case, args: warp_launches.emulated_warp(
        case.function(), case.grid, *args, block_dim=case.block
    ),
}
needs_triton = pytest.mark.skipif(not find_spec("triton"), reason="needs triton")
needs_numba = pytest.mark.skipif(not find_spec("numba_cuda"), reason="needs numba-cuda")


def judge(case: Case, arrays: dict, run) -> None:
    """The result is NumPy's and clean, or the one finding is at the marked line of the Python."""
    before = {name: array.copy() for name, array in arrays.items()}
    try:
        findings = run().findings
    except KernelFault as fault:
        findings = [fault.finding]
    if case.found:
        (kind,) = {finding.kind for finding in findings}
        place = findings[0].location
        assert (kind, place.line) == (case.found, case.line())
        assert place.file.endswith(case.file.name)
    else:
        assert not findings
        np.testing.assert_allclose(arrays["o"], case.right(before), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", recorded.NAMES)
def test_recorded_ptx_gives_what_numpy_does_and_its_mistakes_are_at_their_lines(name):
    case = CASES[name]
    arrays = case.made()
    launch = recorded.replayed(case, arrays)
    judge(case, arrays, lambda: launch.run(EVERY))


def needed(language: str) -> None:
    """Skip a test on a machine without the language, or with a Numba that its NumPy breaks."""
    pytest.importorskip("numba_cuda" if language == "numba" else language)
    if wanted := lacking(language):
        pytest.skip(f"needs {wanted}")


def old_triton() -> bool:
    return tuple(map(int, metadata.version("triton").split(".")[:2])) < (3, 9)


@pytest.mark.parametrize("case", [*TRITON, *NUMBA, *WARP], ids=lambda case: case.name)
def test_a_kernel_of_another_language_runs_from_its_source(case):
    needed(case.language)
    if case.name == "triton_product_90" and old_triton():
        pytest.skip("Triton before 3.9 leaves out a fence between cp.async and wgmma")
    arrays = case.made()
    args = [arrays[value] if isinstance(value, str) else value for value in case.args]
    judge(case, arrays, lambda: RUN[case.language](case, args))


# --- arguments ---


class Tensor:
    """A tensor on the CPU, as far as a launch asks: PyTorch takes seconds to import."""

    def __init__(self, host: np.ndarray, first: int) -> None:
        self.host, self.first = host, first
        self.shape, self.dtype = (host.size - first,), f"torch.{host.dtype.name}"
        self.device = SimpleNamespace(type="cpu")

    def untyped_storage(self):
        start = self.host.ctypes.data
        return SimpleNamespace(data_ptr=lambda: start, nbytes=lambda: self.host.nbytes)

    def data_ptr(self) -> int:
        return self.host.ctypes.data + self.first * self.host.itemsize

    def stride(self) -> tuple[int, ...]:
        return (1,)


def test_tensors_of_one_storage_are_views_of_one_array(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=Tensor))
    host = np.arange(10).astype(ml_dtypes.bfloat16)
    arrays = HostArrays()
    first, rest = (arrays.array(Tensor(host, first), "x") for first in (0, 3))
    assert rest.dtype == ml_dtypes.bfloat16 and np.shares_memory(first, rest)
    rest[0] = 99
    assert host[3] == 99 and GLOBAL.pointer(rest) == GLOBAL.pointer(first) + 6


def test_a_tensor_on_a_gpu_is_refused_with_the_copy_to_pass(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=Tensor))
    tensor = Tensor(np.zeros(3), 0)
    tensor.device.type = "cuda"
    with pytest.raises(LanguageError, match=r"add, x: .*tensor.cpu\(\)"):
        HostArrays().array(tensor, "add, x")


@pytest.mark.parametrize(
    ("value", "says"),
    [([1, 2], "a list"), (SimpleNamespace(__cuda_array_interface__={}), "GPU"), (3, "an int")],
)
def test_what_is_no_array_of_the_host_is_refused_by_its_name(value, says):
    with pytest.raises(LanguageError, match=f"add, x: .*{says}"):
        HostArrays().array(value, "add, x")


def test_other_libraries_arrays_can_be_registered(monkeypatch):
    monkeypatch.setattr(host_arrays, "_CONVERTERS", [(SimpleNamespace, lambda own: own.host)])
    host = np.zeros(())
    assert HostArrays().array(SimpleNamespace(host=host), "x").shape == (1,)


def compiled_add(signature: dict, **metadata) -> SimpleNamespace:
    """The recorded kernel as Triton's runtime holds it."""

    def add(x, y, o, n, BLOCK): ...

    facts = {"num_warps": 4, "shared": 0, "num_ctas": 1, **metadata}
    function = SimpleNamespace(__name__="add", arg_names=["x", "y", "o", "n", "BLOCK"], fn=add)
    return SimpleNamespace(
        name="add",
        asm={"ptx": (recorded.FOLDER / "triton_add_90.ptx").read_text()},
        metadata=SimpleNamespace(**facts),
        src=SimpleNamespace(fn=function, signature=signature),
    )


def test_a_triton_launch_passes_arrays_numbers_and_scratch_but_no_constants():
    pointer = "*fp32"
    signature = {"x": pointer, "y": pointer, "o": pointer, "n": "i32", "BLOCK": "constexpr"}
    x, y, o = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32), np.zeros(1000, "f4")
    given = [triton_launches.Pointer(a, a, HostArrays()) for a in (x, y, o)]
    emulation = prepared_launch.Emulation(EVERY)
    launch = triton_arguments.TritonArguments(compiled_add(signature), [emulation])
    launch(4, 1, 1, 0, "function", None, None, None, None, *given, 1000, 256)
    (prepared,) = emulation.launches
    assert prepared.names[:4] == ("x", "y", "o", "n") and len(prepared.args) == 6
    assert prepared.args[3:] == (np.int32(1000), np.uint64(0), np.uint64(0))
    assert prepared.block == (128, 1, 1) and (o == x + 1).all()


def test_a_configuration_that_is_tried_is_not_launched():
    emulation = prepared_launch.Emulation(EVERY, trying=True)
    triton_arguments.TritonArguments(compiled_add({}), [emulation])(1, 1, 1, 0, *[None] * 5)
    assert not emulation.launches


def test_scratch_memory_is_allocated_for_every_block():
    pointer = "*fp32"
    signature = {"x": pointer, "y": pointer, "o": pointer, "n": "i32", "BLOCK": "constexpr"}
    compiled = compiled_add(signature, global_scratch_size=128)
    launch = triton_arguments.TritonArguments(compiled, [])
    values = [np.zeros(4, np.float32)] * 3
    given = [triton_launches.Pointer(a, a, HostArrays()) for a in values]
    assert launch.prepared((3, 2, 1), [*given, 4, 256]).args[4].nbytes == 3 * 2 * 128


@pytest.mark.parametrize("bad", [0, (1, 0), (1, 1, 1, 1), 2.5, "8"])
def test_a_shape_that_is_no_shape_is_refused(bad):
    with pytest.raises(LanguageError, match="saxpy: the grid is"):
        dimensions(bad, "grid", "saxpy")


@pytest.mark.parametrize(
    ("shape", "says"), [({"block": (2000, 1, 1)}, "2,000 threads"), ({"shared": 300_000}, "300,")]
)
def test_a_launch_that_a_gpu_refuses_is_refused(shape, says):
    case = CASES["numba_saxpy_90"]
    launch = recorded.replayed(case, case.made())
    for name, value in shape.items():
        setattr(launch, name, value)
    with pytest.raises(LanguageError, match=says):
        launch.run()


# --- reports ---


def test_a_finding_is_a_warning_at_the_line_of_the_kernel():
    case = CASES["numba_no_barrier_90"]
    emulation = prepared_launch.Emulation(EVERY)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        emulation.launch(recorded.replayed(case, case.made()))
    assert seen[0].category is FindingWarning and seen[0].lineno == case.line()
    assert emulation.findings[0].kind == case.found


ASSEMBLY = """
\t.loc\t1 30 21
\t// begin inline asm
\t.loc\t1 30 21
\tmov.u32 %r1, 0x0;
\t.loc\t1 31 21
\tld.global.b32 %r1, [%rd1];
\t// end inline asm
\t.loc\t1 32 5
\t.file\t1 "{file}"
"""


def test_inline_assembly_belongs_to_the_line_that_it_begins_with():
    text = prepared_launch.with_lines_of_source(ASSEMBLY.format(file="k.py"))
    lines = [line.split()[2] for line in text.splitlines() if ".loc" in line]
    assert lines == ["30", "32"]


def test_a_file_is_called_alike_on_every_machine(tmp_path, monkeypatch):
    inside, outside = tmp_path / "work" / "k.py", tmp_path / "lib" / "pack" / "m.py"
    for file in (inside, outside):
        file.parent.mkdir(parents=True)
        file.write_text("")
    monkeypatch.chdir(tmp_path / "work")
    assert prepared_launch.shown_name(str(inside)) == "k.py"
    assert prepared_launch.shown_name(str(outside)) == "m.py"
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    assert prepared_launch.shown_name(str(outside)) == "pack/m.py"


def test_a_notebooks_cell_is_called_a_cell(monkeypatch):
    path = "/no/such/ipykernel_1/2.py"
    monkeypatch.setitem(prepared_launch.linecache.cache, path, (3, None, ["x = 1\n"], path))
    assert prepared_launch.shown_name(path) == prepared_launch.CELL
    assert prepared_launch.PythonSource.of(path).text == "x = 1\n"


def test_a_helpers_cell_is_not_taken_for_the_kernels(monkeypatch):
    own, other = "/no/such/ipykernel_1/2.py", "/no/such/ipykernel_1/3.py"
    for path in (own, other):
        monkeypatch.setitem(prepared_launch.linecache.cache, path, (1, None, ["x\n"], path))
    ptx = f'.file 1 "{own}"\n.file 2 "{other}"\n'
    text = prepared_launch.with_lines_of_source(ptx, own)
    assert text == f'.file 1 "{prepared_launch.CELL}"\n.file 2 "{prepared_launch.OTHER_CELL}"\n'


INLINED = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x)
{{
.reg .b64 %rd<3>;
ld.param.u64 %rd1, [x];
.loc 2 314 12, function_name $L__info_string0, inlined_at 1 7 5
st.global.u32 [%rd1+4], 1;
ret;
}}
.file 1 "{own}"
.file 2 "/lib/triton/language/standard.py"
"""


def test_a_fault_in_a_library_names_the_line_of_the_kernel_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "mine.py"
    own.write_text("")
    entry = prepared_launch.entry_of(INLINED.format(own=own), own=str(own))
    with pytest.raises(KernelFault) as fault:
        entry.launch(1, 1, (np.zeros(1, np.int32),))
    place = fault.value.finding.location
    assert (place.file, place.line) == ("mine.py", 7)
    assert [helper.line for helper in place.helpers] == [314]


PARAMETER = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 8 .b8 p[16], .param .u64 o)
{
.reg .b32 %r<3>;
.reg .b64 %rd<6>;
mov.b32 %r1, p;
cvt.u64.u32 %rd1, %r1;
cvta.param.u64 %rd2, %rd1;
ld.u32 %r2, [%rd2+4];
ld.param.u64 %rd3, [o];
st.global.u32 [%rd3], %r2;
ret;
}
"""


def test_a_parameters_address_from_a_32_bit_register_is_its_generic_address():
    o = np.zeros(1, np.int32)
    entry = prepared_launch.entry_of(PARAMETER)
    entry.launch(1, 1, (np.arange(4, dtype=np.int32).tobytes(), o))
    assert o[0] == 1


# --- Triton's runtime ---


def test_no_registers_are_read_from_what_is_no_cubin():
    assert triton_driver.registers(b"PTX") == 0


@needs_triton
def test_triton_specialises_on_none_and_one_and_takes_tensors():
    torch = pytest.importorskip("torch")
    from tests.emulator.other_languages.triton_kernels import options

    o, bias = torch.zeros(64), torch.arange(64.0)
    with triton_launches.triton_on_emulator() as emulation:
        options[(1,)](o, None, 1, 2.5, BLOCK=64)
        assert (o == 2.5).all()
        compiled = options[lambda meta: (64 // meta["BLOCK"],)](o, bias, 16, 2.5, BLOCK=64)
    assert torch.equal(o, bias + 40) and len(emulation.results) == 2
    assert compiled.metadata.num_warps == 4 and compiled.n_regs > 0


@needs_triton
def test_autotune_takes_the_first_configuration_or_launches_all():
    from tests.emulator.other_languages.triton_kernels import chosen_add, tuned_add

    x, y, o = np.ones((3, 200), np.float32)

    def grid(meta):
        return (-(-200 // meta["BLOCK"]),)

    with triton_launches.triton_on_emulator() as emulation:
        tuned_add[grid](x, y, o, 200)
        chosen_add[grid](x, y, o, 200)
    assert [launch.grid[0] for launch in emulation.launches] == [4, 1] and (o == 2).all()
    with triton_launches.triton_on_emulator(every_config=True) as emulation:
        tuned_add[grid](x, y, o, 199)
    assert [launch.grid[0] for launch in emulation.launches] == [4, 2, 4]
    assert not tuned_add.cache


@needs_triton
def test_afterwards_triton_has_its_own_runtime_again():
    from triton.runtime import driver
    from triton.runtime.jit import JITFunction

    before = driver._active, JITFunction.run
    with pytest.raises(ZeroDivisionError), triton_launches.triton_on_emulator():
        assert JITFunction.run is not before[1]
        raise ZeroDivisionError
    assert (driver._active, JITFunction.run) == before


@needs_triton
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({0: [1.0]}, "add, x: .* a list"),
        ({3: np.int32(9)}, r"add, n: .*int\(...\)"),
        ({0: np.zeros(9, complex)}, "add, x: Triton has no complex128"),
    ],
)
def test_arguments_that_triton_has_no_type_for_are_refused_by_name(change, says):
    from tests.emulator.other_languages.triton_kernels import add

    args = [*np.zeros((3, 9), np.float32), 9]
    for at, value in change.items():
        args[at] = value
    with pytest.raises(LanguageError, match=says):
        triton_launches.emulated_triton(add, (1,), *args, BLOCK=16)


@needs_triton
def test_what_is_no_triton_kernel_is_refused():
    with pytest.raises(LanguageError, match="len isn't a Triton kernel"):
        triton_launches.emulated_triton(len, (1,))


def test_a_missing_package_is_named_with_its_command(monkeypatch):
    def missing(name, *_):
        raise ImportError(name)

    monkeypatch.setitem(sys.modules, "triton.compiler", None)
    with pytest.raises(LanguageError, match="pip install triton"):
        triton_launches.emulated_triton(len, (1,))
    monkeypatch.setattr(numba_launches.importlib, "import_module", missing)
    with pytest.raises(LanguageError, match="pip install numba-cuda"):
        numba_launches.emulated_numba(len, 1, 1)
    monkeypatch.setattr(
        numba_launches.importlib,
        "import_module",
        lambda name: SimpleNamespace(__file__="numba/cuda/__init__.py"),
    )
    with pytest.raises(LanguageError, match="pip install numba-cuda"):
        numba_launches.emulated_numba(len, 1, 1)
    monkeypatch.setattr(warp_launches.importlib, "import_module", missing)
    with pytest.raises(LanguageError, match="pip install warp-lang"):
        warp_launches.emulated_warp(len, 1)


# --- Numba's runtime ---


@needs_numba
def test_numbas_own_launch_and_device_arrays():
    needed("numba")
    from numba import cuda

    from tests.emulator.other_languages.numba_kernels import no_guard, saxpy

    x = np.arange(300, dtype=np.float32)
    with numba_launches.numba_on_emulator() as emulation, warnings.catch_warnings(record=True):
        device_x, device_o = cuda.to_device(x), cuda.device_array_like(x)
        no_guard.forall(300, tpb=100)(device_x, device_o)
        assert (device_o.copy_to_host() == 2 * x).all() and not emulation.findings
        saxpy[3, 128](device_x, cuda.device_array(300, np.float32), 1.0)
        cuda.synchronize()
    assert emulation.findings[0].kind == UNINITIALISED


@needs_numba
@pytest.mark.parametrize(
    ("args", "says"),
    [((1,), "1 arguments, and it takes 3"), (([1.0], 2, 3), "saxpy, x: .*list")],
)
def test_arguments_that_numba_does_not_take_are_refused(args, says):
    from tests.emulator.other_languages.numba_kernels import saxpy

    with pytest.raises(LanguageError, match=says):
        numba_launches.emulated_numba(saxpy, 1, 32, *args)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("_ZmlRK6__halfS1_", "16-bit floats.*float32"),
        ("cudaCGSynchronize", "barrier of the whole grid.*Split"),
        ("other", "the function other.*device=True"),
    ],
)
def test_what_numba_would_link_is_refused_with_what_to_do(function, says):
    ptx = f".extern .func (.param .b32 r) {function}\n(.param .b64 a)\n;"
    with pytest.raises(LanguageError, match=f"kernel: .*{says}"):
        numba_launches._check_links("kernel", ptx)
    numba_launches._check_links("kernel", ptx.replace(function, "vprintf"))


# --- whole scripts ---

PROGRAM = """
import sys
import torch
import triton
import triton.language as tl

@triton.jit
def double(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, 2 * tl.load(x + i, i < n), i < n)

x = torch.rand(100, device="cuda")
o = torch.empty_like(x).cuda()
double[(1,)](x, o, int(sys.argv[1]), BLOCK=128)
assert o.is_cuda and torch.equal(o, 2 * x)
print("done", triton.testing.do_bench(lambda: None))
"""


def test_a_script_is_told_from_a_cuda_program_by_its_own_name():
    assert languages.is_script(["--arch", "80", "a.py", "--", "b.cu"])
    assert not languages.is_script(["a.cu", "--", "b.py"])
    assert languages.split(["a.py", "--", "1", "--", "2"]) == (["a.py"], ["1", "--", "2"])


def test_a_script_that_is_not_there_and_one_without_its_language_are_refused(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(script_command, "find_spec", lambda name: None)
    file = tmp_path / "a.py"
    for says in ("there is no file", "numba, and none of them is installed"):
        with pytest.raises(SystemExit) as ended:
            script_command.main([str(file)])
        assert ended.value.code == 2 and says in capsys.readouterr().err
        file.write_text("from numba import cuda")


@pytest.mark.emulator
@needs_triton
@pytest.mark.parametrize(("n", "status", "says"), [(100, 0, "no findings"), (101, 1, "x[100]")])
def test_a_script_for_a_gpu_runs_as_it_is(tmp_path, monkeypatch, capsys, n, status, says):
    pytest.importorskip("torch")
    monkeypatch.setattr(sys, "argv", ["pytest"])
    monkeypatch.setattr(sys, "path", [*sys.path])
    file = tmp_path / "a.py"
    file.write_text(PROGRAM)
    assert script_command.main([str(file), "--", str(n)]) == status
    printed = capsys.readouterr()
    assert says in printed.err and printed.out == ("" if status else "done nan\n")


def test_warp_starts_without_its_greeting_and_its_warning_of_no_driver(capfd):
    warp = SimpleNamespace(config=SimpleNamespace(log_level=20), LOG_ERROR=40)
    levels = []

    def init():
        os.write(2, b"no driver")
        levels.append(warp.config.log_level)

    warp.init = init
    warp_launches._start_quietly(warp)
    os.write(2, b"later")
    assert capfd.readouterr().err == "later"
    assert (levels, warp.config.log_level) == ([40], 20)


def test_a_prepared_launch_has_its_ptx():
    case = CASES["numba_saxpy_90"]
    assert ".visible .entry" in recorded.replayed(case, case.made()).ptx
