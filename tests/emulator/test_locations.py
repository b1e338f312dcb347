"""Findings name the student's own line, and say in which helper of a header it happened."""

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import (
    ALL_CHECKS,
    DATA_RACE,
    OUT_OF_BOUNDS,
    EmulatedModule,
    KernelFault,
    Options,
)

F32 = np.float32
HEADER = """#pragma once
namespace tiles {
template <int Shift>
__device__ __forceinline__ void put(float *s, float v)
{
    s[threadIdx.x + Shift] = v;
}
__device__ inline void load_tile(float *s, const float *x)
{
    put<0>(s, x[threadIdx.x]);
}
} // namespace tiles
"""
KERNEL = """#include "common/tile.cuh"
extern "C" __global__ void f(float *x, float *y) {
    __shared__ float s[64];
    tiles::load_tile(s, x);
    SYNC
    y[threadIdx.x] = s[63 - threadIdx.x];
}"""


@pytest.fixture
def entry(tmp_path):
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "tile.cuh").write_text(HEADER)

    def make(source):
        options = (f"--include-path={tmp_path}",)
        return EmulatedModule(compile_ptx(source, filename="kernel.cu", options=options)).entry("f")

    return make


def test_a_race_in_an_inlined_helper_of_a_header_names_the_line_that_calls_it(entry):
    arrays = np.arange(64, dtype=F32), np.zeros(64, F32)
    (found,) = (
        entry(KERNEL.replace("SYNC", ""))
        .launch(1, 64, arrays, options=Options(checks=ALL_CHECKS))
        .findings
    )
    assert found.kind == DATA_RACE
    assert (found.location.file, found.location.line) == ("kernel.cu", 6)
    assert (found.other_location.file, found.other_location.line) == ("kernel.cu", 4)
    assert found.message == (
        "Data race (read after write) on s[63] in shared memory, block (0, 0, 0):\n"
        "  thread (63, 0, 0) writes it at kernel.cu:4, in load_tile (common/tile.cuh:10), in put "
        "(common/tile.cuh:6)\n"
        "  thread (0, 0, 0) reads it at kernel.cu:6\n"
        "  with no __syncthreads() in between."
    )


@pytest.mark.parametrize("name", ["José Müller", "course (1)", 'a "quoted" name', "back\\slash"])
def test_files_are_called_by_their_names_whatever_letters_these_have(tmp_path, monkeypatch, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "tile.cuh").write_text(HEADER)
    monkeypatch.chdir(tmp_path)
    source = KERNEL.replace("common/", "").replace("SYNC", "")
    options = (f"--include-path={tmp_path / name}",)
    entry = EmulatedModule(compile_ptx(source, filename=f"{name}/x.cu", options=options)).entry("f")
    arrays = np.arange(64, dtype=F32), np.zeros(64, F32)
    (found,) = entry.launch(1, 64, arrays, options=Options(checks=ALL_CHECKS)).findings
    assert (found.location.file, found.location.line) == (f"{name}/x.cu", 6)
    assert f"at {name}/x.cu:4, in load_tile ({name}/tile.cuh:10)" in found.message


def test_a_fault_in_a_helper_says_which_call_and_which_line_of_the_helper(entry):
    arrays = np.zeros(63, F32), np.zeros(64, F32)
    with pytest.raises(KernelFault) as caught:
        entry(KERNEL.replace("SYNC", "__syncthreads();")).launch(1, 64, arrays)
    found = caught.value.finding
    assert (found.kind, found.location.line) == (OUT_OF_BOUNDS, 4)
    assert "kernel.cu:4, in load_tile (common/tile.cuh:10)," in found.message


def test_two_calls_of_a_helper_on_one_line_that_race_are_found(entry):
    source = KERNEL.replace("SYNC", "tiles::put<0>(s, 1); tiles::put<1>(s, 2);")
    source = source.replace("s[64]", "s[80]")
    arrays = np.zeros(64, F32), np.zeros(64, F32)
    found = entry(source).launch(1, 64, arrays, options=Options(checks=ALL_CHECKS)).findings
    assert all(f.location.file == f.other_location.file == "kernel.cu" for f in found)
    assert (5, 5) in {(f.other_location.line, f.location.line) for f in found}


def test_a_helper_in_the_students_own_file_is_named_by_its_own_line():
    source = """__device__ void put(float *s) { s[0] = threadIdx.x; }
extern "C" __global__ void f(float *y) {
    put(y);
}"""
    entry = EmulatedModule(compile_ptx(source, filename="kernel.cu")).entry("f")
    (found,) = entry.launch(1, 32, (np.zeros(1, F32),), options=Options(checks=ALL_CHECKS)).findings
    assert str(found.location) == "kernel.cu:1"
