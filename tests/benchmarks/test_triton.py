"""Triton beside CUDA: PTX from a file on the emulator, and the kernels and texts compared."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_utils import ceil_div, check, cp, load, load_ptx, profile, sanitize
from course_utils.benchmarks.libraries.triton_comparison import (
    next_power,
    shortened_ir,
    shortened_ptx,
)
from course_utils.compiling.nvrtc import compile_ptx
from course_utils.errors import LessonError
from course_utils.launching import ptx_files
from course_utils.launching.ptx_files import PtxModule
from course_utils.paths import KERNELS, ROOT

TEXTS = "assets/transcripts/triton_{}_{}.ptx.txt"
PROGRAM = 1024  # elements that a program of vec_add takes, with 128 threads


def normal(shape, seed=0):
    return cp.asarray(np.random.default_rng(seed).standard_normal(shape, dtype=np.float32))


def softmax_of(x):
    power = np.exp(x.astype(np.float64) - x.max(axis=-1, keepdims=True))
    return power / power.sum(axis=-1, keepdims=True)


@pytest.fixture
def written(tmp_path):
    """vec_add.cu as a file of PTX."""
    source = (KERNELS / "04_first_kernels/threads/vec_add.cu").read_text(encoding="utf-8")
    file = tmp_path / "vec_add.ptx"
    file.write_text(compile_ptx(source, filename="kernels/04_first_kernels/threads/vec_add.cu"))
    return file


def test_a_file_of_ptx_runs_as_the_kernel_that_it_was_made_from(written):
    a, b, c = normal(300), normal(300, 1), cp.full(300, cp.nan, dtype=cp.float32)
    load_ptx(written)((2,), (256,), (a, b, c, np.int32(300)))
    check(c, a.get() + b.get())


def test_a_report_about_ptx_shows_the_line_of_its_source(written):
    arrays = [cp.zeros(100, cp.float32) for _ in range(3)]
    report = sanitize(load_ptx(written), 1, 256, (*arrays, np.int32(200)))
    assert "c[i] = a[i] + b[i]" in str(report)


def test_the_source_of_ptx_is_found_where_its_path_has_letters_outside_ascii(tmp_path, monkeypatch):
    monkeypatch.setattr(ptx_files, "ROOT", tmp_path)
    origin = tmp_path / "José Müller" / "größe.cu"
    origin.parent.mkdir()
    origin.write_text('extern "C" __global__ void f(int *a) { *a = 1; }\n')
    file = origin.with_suffix(".ptx")
    file.write_text(compile_ptx(origin.read_text(), filename=str(origin)))
    module = PtxModule(file)
    assert module.filename == "José Müller/größe.cu"
    assert module.source == origin.read_text()


class OnGPU:
    """What the emulator sees of an array of a GPU: it can be fetched and set."""

    __cuda_array_interface__ = {}
    base = None  # it is no view of another

    def __init__(self, host):
        self.host = host

    @property
    def data(self):
        return SimpleNamespace(ptr=id(self))

    def get(self, order="C"):
        return self.host.copy(order)

    def set(self, host):
        self.host[:] = host


def test_arrays_of_a_gpu_get_what_the_emulator_wrote(written):
    a, b, c = (OnGPU(np.full(300, value, np.float32)) for value in (1, 2, np.nan))
    load_ptx(written, device="emulator")((2,), (256,), (a, b, c, np.int32(300)))
    assert (c.host == 3).all()


def test_a_missing_file_of_ptx_is_named():
    with pytest.raises(LessonError, match="nowhere.ptx"):
        load_ptx("nowhere.ptx")


def test_a_file_without_a_kernel_is_refused(tmp_path):
    (tmp_path / "empty.ptx").write_text("// nothing\n")
    with pytest.raises(LessonError, match="none"):
        load_ptx(tmp_path / "empty.ptx")


@pytest.mark.parametrize(
    "text, n",
    [("divides", 16), ("divides", 4096), ("divides", 10_000)]
    + [("any", n) for n in (1, 511, 1024, 10_007)],
)
def test_tritons_vector_addition_is_right_on_the_emulator(text, n):
    a, b, c = normal(n), normal(n, 1), cp.full(n, cp.nan, dtype=cp.float32)
    kernel = load_ptx(TEXTS.format("vec_add", text), device="emulator")
    report = sanitize(kernel, ceil_div(n, PROGRAM), 128, (a, b, c, np.int32(n), 0, 0))
    assert report.clean, str(report)


@pytest.mark.parametrize(
    "text, columns",
    [("divides", 16), ("divides", 4000), ("divides", 4096), ("any", 1), ("any", 61), ("any", 3999)],
)
def test_tritons_softmax_is_right_on_the_emulator(text, columns):
    kernel = load_ptx(TEXTS.format("softmax_row", text))
    x, y = normal((3, columns)), cp.full((3, columns), cp.nan, dtype=cp.float32)
    report = sanitize(kernel, 3, 256, (x, y, np.int32(columns), 0, 0), shared_mem=32)
    kernel((3,), (256,), (x, y, np.int32(columns), 0, 0), shared_mem=32)
    assert report.clean, str(report)
    check(y, softmax_of(x.get()), reduction=columns)


def test_tritons_loads_are_counted_for_the_lines_of_its_program():
    n = 1024
    kernel = load_ptx(TEXTS.format("vec_add", "divides"))
    arrays = [normal(n, seed) for seed in range(3)]
    lines = profile(kernel, 1, 128, (*arrays, np.int32(n), 0, 0)).lines
    assert [line.text for line in lines if line.global_load_requests] == [
        "x = tl.load(a + i, mask=inside)",
        "y = tl.load(b + i, mask=inside)",
    ]


@pytest.mark.parametrize("rows, columns", [(1, 4), (3, 1000), (2, 4096)])
def test_our_softmax_that_keeps_its_row_is_right(rows, columns):
    kernel = load("04_first_kernels/reductions/softmax_row.cu")
    x, y = normal((rows, columns)), cp.full((rows, columns), cp.nan, dtype=cp.float32)
    report = sanitize(kernel, rows, 256, (x, y, columns))
    assert report.clean, str(report)
    kernel((rows,), (256,), (x, y, columns))
    check(y, softmax_of(x.get()), reduction=columns)


def test_our_softmax_reads_each_element_once():
    kernel = load("04_first_kernels/reductions/softmax_row.cu")
    x, y = normal((2, 4096)), cp.empty((2, 4096), dtype=cp.float32)
    assert profile(kernel, 2, 256, (x, y, 4096)).counts.global_load_bytes == x.nbytes


@pytest.mark.parametrize("n, power", [(1, 1), (2, 2), (3, 4), (4096, 4096), (4097, 8192)])
def test_the_next_power_of_two_is_not_below(n, power):
    assert next_power(n) == power


def test_a_stored_ptx_has_no_tables_for_debuggers_and_no_folders():
    tables = "\t.section\t.debug_info\n\t{\n.b8 1\n\t}\n"
    text = f'ret;\n}}\n\t.file\t1 "/somewhere/kernels/a/b.py"\n{tables}'
    assert shortened_ptx(text) == 'ret;\n}\n\t.file\t1 "kernels/a/b.py"'


def test_a_stored_ttgir_has_no_places():
    text = '#loc = loc("/x/y.py":1:2)\n%a = tt.load %b loc(#loc3)\n%c: f32 loc("c"(#loc)))\n'
    assert shortened_ir(text) == "%a = tt.load %b\n%c: f32)"


def test_no_stored_text_names_a_folder_of_the_machine():
    texts = [file.read_text() for file in (ROOT / "assets/transcripts").glob("triton_*.txt")]
    assert not any('"/' in text or "site-packages" in text for text in texts)
