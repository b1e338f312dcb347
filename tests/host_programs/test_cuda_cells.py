"""``%%cuda`` and ``run_cuda``: whole CUDA programs, here on the emulator."""

import shutil

import pytest

from course_utils import needs
from course_utils.compiling.diagnostics import CompileError
from course_utils.emulator import CannotBuild
from course_utils.errors import LessonError
from course_utils.host_programs import cuda_cells
from course_utils.host_programs.cuda_cells import run_cuda, run_cuda_cell

MAIN = "int main() { return 0; }\n"
PROGRAM = """\
#include <cstdio>
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
int main(int argc, char **argv) {
    float *d_x, h[4] = {1, 2, 3, 4};
    cudaMalloc(&d_x, sizeof h);
    cudaMemcpy(d_x, h, sizeof h, cudaMemcpyHostToDevice);
    twice<<<1, THREADS>>>(d_x);
    cudaMemcpy(h, d_x, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %g %s\\n", h[0], h[3], argv[1]);
    cudaFree(d_x);
}
"""


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr(cuda_cells, "c_folder", lambda: folder)
    return folder


@pytest.fixture
def nvcc():
    if needs.lacking("cuda"):
        pytest.skip("needs nvcc: the extra programs")


def test_a_cell_runs_and_its_mistakes_follow_its_output(nvcc, capsys):
    run_cuda_cell('args="hi there" flags=-DTHREADS=5 on=emulator', PROGRAM)
    said = capsys.readouterr().out
    assert said.startswith("1 4 hi\n") and "d_x[4] at cell.cu:3" in said
    assert "twice<<<1, 5>>> at cell.cu:8" in said and "\nnext: " in said


def test_a_program_of_files_runs_on_the_emulator(nvcc, capsys, tmp_path):
    (tmp_path / "main.cu").write_text(PROGRAM)
    file = tmp_path / "main.cu"
    run_cuda(file, args=["x"], flags="-DTHREADS=4", on="emulator")
    assert capsys.readouterr().out == "2 8 x\nNo findings.\n"


def test_what_does_not_compile_is_said_with_its_line_of_the_cell(nvcc):
    with pytest.raises(CompileError) as error:
        run_cuda_cell("on=emulator", f"int f() {{ return cudaNoSuch(); }}\n{MAIN}")
    assert (error.value.file, error.value.line) == ("cell.cu", 2)
    assert not error.value.hints  # host code belongs to a whole program


@pytest.mark.parametrize(
    ("line", "cell", "said"),
    [
        ("on=moon", MAIN, "gpu or emulator"),
        ("checks=some", MAIN, "on or off"),
        ("arguments=3", MAIN, "no such option"),
        ("seconds=1000", MAIN, "600"),
        ("with=other.cu", MAIN, "other.cu"),
        ("", "__global__ void k() {}", "main"),
    ],
)
def test_a_first_line_that_makes_no_sense_is_refused(line, cell, said):
    with pytest.raises(LessonError, match=said):
        run_cuda_cell(line, cell)


def test_a_cell_without_main_is_kept_for_later_ones(kept, capsys):
    run_cuda_cell("file=twice.cuh", "__global__ void twice(float *x);")
    assert capsys.readouterr().out == "kept twice.cuh\n"
    assert (kept / "twice.cuh").read_text() == "\n__global__ void twice(float *x);"


@pytest.mark.parametrize(("files", "said"), [((), "files"), (("gone.cu",), "gone.cu")])
def test_a_program_without_files_is_refused(files, said):
    with pytest.raises(LessonError, match=said):
        run_cuda(*files)


def test_without_nvcc_it_is_said_what_to_install(monkeypatch):
    def none(*_, **__):
        raise CannotBuild("no nvcc: pip install nvidia-cuda-nvcc")

    monkeypatch.setattr(cuda_cells, "build_program", none)
    with pytest.raises(LessonError, match="pip install nvidia-cuda-nvcc"):
        run_cuda_cell("on=emulator", MAIN)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(cuda_cells, "ON_GPU", False)
    with pytest.raises(LessonError, match="GPU"):
        run_cuda_cell("on=gpu", MAIN)


GPU_PROGRAM = """\
#!/bin/sh
for last; do :; done
printf '#!/bin/sh\\necho "ran $1"\\nexit 3\\n' > "$last"
chmod +x "$last"
echo "$@" > "$NVCC_WORDS"
"""


def test_on_a_gpu_nvcc_builds_the_program_for_it(monkeypatch, capsys, tmp_path):
    """With a shell script as nvcc, as no GPU is needed to see how it is called."""
    (tmp_path / "nvcc").write_text(GPU_PROGRAM)
    (tmp_path / "nvcc").chmod(0o755)
    monkeypatch.setattr(cuda_cells, "ON_GPU", True)
    monkeypatch.setenv("NVCC_WORDS", str(tmp_path / "words"))
    monkeypatch.setattr(shutil, "which", lambda name: str(tmp_path / name))
    run_cuda_cell("args=7 flags=-O3", MAIN)
    assert capsys.readouterr().out == "ran 7\nThe program ended with status 3.\n"
    words = (tmp_path / "words").read_text().split()
    assert "-arch=native" in words and "-O3" in words and "cell.cu" in words
