"""Whole programs: host code that runs as it is, over our runtime library instead of CUDA's."""

import io
import json
import platform
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from course_utils import emulator
from course_utils.compiling.headers import cuda_header_paths
from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import command_line
from course_utils.emulator.isa import linked_ptx
from course_utils.emulator.memory.address_space import GLOBAL
from course_utils.emulator.programs import (
    fat_binary,
    host_lines,
    host_mistakes,
    program_building,
    program_launches,
    program_outcome,
    program_report,
    run_command,
    runtime_compiler,
)

FOLDER = Path(__file__).parent / "whole_programs"
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


def lines_of(source: str) -> dict[str, str]:
    """The place of each mark, a comment in capitals: "host.c:12"."""
    found = {}
    for number, line in enumerate((FOLDER / source).read_text().splitlines(), 1):
        if mark := re.search(r"// ([A-Z_]+)$", line):
            found[mark[1]] = f"{source}:{number}"
    return found


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The program host.c and its kernels, built without nvcc: argument -> (outcome, output)."""
    folder = tmp_path_factory.mktemp("program")
    source = (FOLDER / "kernels.cu").read_text()
    data = fat_binary.wrap(compile_ptx(source, filename="kernels.cu"))
    words = memoryview(data).cast("Q")
    (folder / "binary.inc").write_text(",".join(f"{word}ull" for word in words))
    includes = tuple(map(Path, cuda_header_paths()))
    stand_in = program_building.build_stand_in(includes, folder)
    flags = [f"-I{path}" for path in (*includes, folder)]
    flags += [f"-Wl,{option}" for option in ",".join(program_building.LINKING).split(",")]
    program = folder / "program.so"
    command = ["gcc", "-g", "-w", "-shared", "-fPIC", *flags, "-o", program, FOLDER / "host.c"]
    subprocess.run(command, check=True)
    missing = program_building.build_missing(program, stand_in, folder)
    built = program_building.Built(program, stand_in, missing, tuple(map(str, includes)))
    kept = {}

    def run(argument):
        if argument not in kept:
            output = folder / f"{argument}.txt"
            with output.open("w") as out:
                outcome = program_outcome.run_program(built, folder, [argument], stdout=out)
            kept[argument] = outcome, output.read_text()
        return kept[argument]

    return run


@needs_gcc
def test_nothing_is_found_in_a_program_without_mistakes(host):
    outcome, _ = host("right")
    assert outcome.status == 0 and not outcome.findings, outcome.findings
    assert outcome.end["launches"] == 9


@needs_gcc
@pytest.mark.parametrize(
    "line",
    [
        "sums: 3 6 9 12 15 18",
        "symbol: 6",
        "rows: 2 3 5 6",
        "managed: 42",
        "pinned: 11",
        "before\nhello from thread 0 of 2\nhello from thread 1 of 2\nafter",
        "grid: 96 96 96 96",
        "clusters: 0 1 0 1",
        "device: 32 1024 9 65535 2",
        "kernel: 256 1024",
        "refused: 101 101 0",
        "too much: 2 2 2",
        "text: cudaErrorIllegalAddress, invalid configuration argument",
        "pointers: 1 2",
        "shared: 3 3 3 3",
        "time: 0",
        "random: 5.0 1",
        "box: 30 31 36 37",
    ],
    ids=lambda line: line.partition(":")[0].partition("\n")[0],
)
def test_a_program_gets_what_a_gpu_would_give_it(host, line):
    _, said = host("right")
    assert f"\n{line}\n" in f"\n{said}"


@needs_gcc
@pytest.mark.parametrize(
    ("argument", "line"),
    [
        ("graphs", "captured: 1 5 0 0"),
        ("graphs", "replayed: 1 4 200"),
        ("graphs", "made: 8 9 10 11"),
        ("graphs", "changed: 10 11 12 13"),
        ("graphs", "broken: 900 901 1"),
        ("graphs", "unjoined: 906 904"),
        ("graphs", "late: 1"),
        ("graphs", "its own memory: 0 0 7"),
        ("graphs", "freed outside: 0 0 0 5 0"),
        ("arrays", "texture: 1 2.5 6"),
        ("arrays", "surface: 0 50"),
        ("arrays", "box of texels: 40 50"),
        ("arrays", "linear: 6 1"),
        ("late", "late: 1 0 0 700 700"),
        ("driver", "too early: 3 3"),
        ("driver", "no context: 201 101"),
        ("driver", "module: 0 0 500"),
        ("driver", "driver's device: 1 9 1024"),
        ("driver", "doubled: 0"),
        ("driver", "sums of the driver: 4 8 6 8"),
        ("driver", "set and found: 7 7 8"),
        ("driver", "name: CUDA_ERROR_NOT_FOUND"),
        ("driver", "bad image: 209"),
        ("compiled", "compiled: 0 0 40 42"),
    ],
)
def test_graphs_arrays_and_the_driver_are_there(host, argument, line):
    outcome, said = host(argument)
    assert f"\n{line}\n" in f"\n{said}", outcome.events


@needs_gcc
@pytest.mark.parametrize(
    ("argument", "mark", "kind", "data"),
    [
        ("graphs", "WAITS_IN_CAPTURE", "INVALID_CALL", "cudaStreamSynchronize"),
        ("graphs", "COPY_IN_CAPTURE", "INVALID_CALL", "cudaMemcpy"),
        ("graphs", "UNJOINED", "INVALID_CALL", "cudaStreamWaitEvent"),
        ("graphs", "SET_OUTSIDE_IN_GRAPH", "OUTSIDE_ALLOCATION", "4 past the end of b"),
        ("arrays", "TOO_MANY_ROWS", "OUTSIDE_ALLOCATION", "3 rows of array"),
        ("arrays", "FREED_AS_MEMORY", "NOT_ALLOCATED", "cudaFreeArray"),
        ("driver", "BAD_IMAGE", "LAUNCH_REFUSED", "neither PTX nor a fat binary"),
        ("driver", "HOST_TOO_SMALL", "OUTSIDE_ALLOCATION", "4 past the end of d, 16 bytes"),
        ("driver", "FREED_BY_DRIVER", "FREED_TWICE", "cuMemFree frees d"),
    ],
)
def test_mistakes_with_graphs_arrays_and_the_driver_are_found(host, argument, mark, kind, data):
    outcome, _ = host(argument)
    place = {**lines_of("graphs.h"), **lines_of("driver.h")}[mark]
    (found,) = [f for f in outcome.findings if f["line"] == place]
    assert found["kind"] == kind and data in found["message"]
    assert len(outcome.findings) == {"graphs": 4, "arrays": 2, "driver": 3}[argument], (
        outcome.findings
    )


@needs_gcc
def test_a_kernel_that_the_program_compiles_has_its_lines(host):
    outcome, _ = host("compiled")
    found = next(f for f in outcome.findings if f["kind"] == "out of bounds")
    assert found["call"] == "set" and "d[3] at set.cu:1" in found["message"]


@needs_gcc
@pytest.mark.parametrize(
    ("mark", "kind", "call", "data"),
    [
        ("SET_OUTSIDE", "OUTSIDE_ALLOCATION", "cudaMemset", "4 past the end of b, 100 bytes"),
        ("COPY_OUTSIDE", "OUTSIDE_ALLOCATION", "cudaMemcpy", "8 past the end of a, 100 bytes"),
        ("READ_OUTSIDE", "OUTSIDE_ALLOCATION", "cudaMemcpy", "100 past the end of a"),
        ("HOST_OUTSIDE", "OUTSIDE_ALLOCATION", "cudaMemcpy", "4 past the end of an allocation"),
        ("DIRECTION", "WRONG_DIRECTION", "cudaMemcpy", "want cudaMemcpyDeviceToHost"),
        ("SET_HOST", "NOT_ALLOCATED", "cudaMemset", "use memset"),
        ("TWICE", "FREED_TWICE", "cudaFree", "b, 100 bytes"),
        ("FREED", "FREED_MEMORY", "cudaMemcpy", "writes b, 100 bytes"),
        ("INSIDE", "NOT_ALLOCATED", "cudaFree", "byte 4 of a"),
        ("OF_HOST", "NOT_ALLOCATED", "cudaFree", "a pointer of the host"),
        ("NULL_POINTER", "NOT_ALLOCATED", "cudaMemcpy", "a null pointer"),
        ("TOO_MANY", "LAUNCH_REFUSED", "launch", "2,000 threads, and at most 1,024"),
        ("NO_BLOCKS", "LAUNCH_REFUSED", "launch", "no blocks"),
        ("TOO_MUCH_SHARED", "LAUNCH_REFUSED", "launch", "60,000 bytes of dynamic shared memory"),
    ],
)
def test_a_mistake_of_the_host_is_found_at_its_line(host, mark, kind, call, data):
    outcome, _ = host("wrong")
    place = lines_of("host.c")[mark]
    (found,) = [f for f in outcome.findings if f["line"] == place]
    assert (found["kind"], found["call"], found["level"]) == (kind, call, "error")
    assert data in found["message"]


@needs_gcc
def test_what_kernels_do_wrong_is_found_with_the_name_of_the_variable(host):
    outcome, said = host("wrong")
    race, outside = [f for f in outcome.findings if "<<<" in f["line"]]
    assert race["kind"] == "data race" and race["call"] == "unordered"
    assert f"next: {race['next']}" in program_report.describe_outcome(outcome)
    assert outside["kind"] == "out of bounds" and "a[25] at kernels.cu:8" in outside["message"]
    assert "sticky: 700 700 700 700\n" in said  # every call after it fails, cudaFree too
    assert "NEVER_FREED" not in {f["kind"] for f in outcome.findings}


@needs_gcc
def test_what_is_left_at_the_end_is_a_warning(host):
    outcome, _ = host("leave")
    places = lines_of("host.c")
    ends = {(f["kind"], f["level"]): f["line"] for f in outcome.findings}
    assert ends["ERROR_NOT_READ", "warning"] == places["NOT_READ"]
    assert ends["NEVER_FREED", "warning"] == places["KEPT"]
    assert ends["LAUNCH_REFUSED", "error"] == places["NOT_READ"]


@needs_gcc
@pytest.mark.skipif(platform.machine() != "x86_64", reason="it reads that processor's registers")
def test_host_code_that_touches_device_memory_is_told_whose_it_is(host):
    outcome, _ = host("touch")
    (found,) = outcome.findings
    assert outcome.status < 0 and found["kind"] == "DEVICE_MEMORY_ON_HOST"
    assert found["line"] == lines_of("host.c")["TOUCHED"] and "a, 12 bytes" in found["message"]


@needs_gcc
def test_a_function_that_is_not_there_ends_the_program_by_its_name(host):
    outcome, said = host("lack")
    (missing,) = [event for event in outcome.events if event["what"] == "missing"]
    assert missing["name"] == "cusolverDnCreate" and "not reached" not in said
    assert missing["line"] == lines_of("host.c")["NOT_THERE"] and outcome.status == 2


# --- the parts ---


def test_ptx_is_read_from_a_fat_binary_and_compressed_ptx_is_refused():
    data = fat_binary.wrap(".version 8.0\n")
    assert fat_binary.ptx_in(data[16:]) == ".version 8.0\n"
    compressed = bytearray(data)
    compressed[16 + 40 : 16 + 48] = (0x8000).to_bytes(8, "little")
    with pytest.raises(fat_binary.NoPtx, match="--no-compress"):
        fat_binary.ptx_in(bytes(compressed[16:]))
    with pytest.raises(fat_binary.NoPtx, match="virtual architecture"):
        fat_binary.ptx_in(b"")


HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"
FILES = (
    f"""{HEAD}.extern .func (.param .b32 r) twice(.param .b32 x);
.extern .global .align 4 .u32 counter;
.global .align 4 .u32 own = 3;
.visible .entry k(.param .u64 to) {{
.reg .b64 %rd<3>; .reg .b32 %r<4>;
.loc 1 7 0
ld.global.u32 %r1, [own];
{{ .param .b32 a; st.param.b32 [a], %r1; .param .b32 b;
call (b), twice, (a); ld.param.b32 %r2, [b]; }}
ld.global.u32 %r3, [counter]; add.u32 %r2, %r2, %r3;
ld.param.u64 %rd1, [to]; st.global.u32 [%rd1], %r2; ret;
}}
.file 1 "a.cu"
.section .debug_str
{{ $L__info_string0:
.b8 97,0
}}
""",
    f"""{HEAD}.visible .global .align 4 .u32 counter = 100;
.global .align 4 .u32 own = 2;
.weak .func unused() {{ ret; }}
.visible .func (.param .b32 r) twice(.param .b32 x) {{
.reg .b32 %r<4>;
.loc 1 3 0
ld.param.u32 %r1, [x]; ld.global.u32 %r2, [own]; mul.lo.u32 %r3, %r1, %r2;
st.param.b32 [r], %r3; ret;
}}
.file 1 "b.cu"
""",
)


def test_files_that_call_each_other_become_one_module():
    text = linked_ptx.link([*FILES, f"{HEAD}.weak .func unused() {{ ret; }}\n"])
    module = emulator.EmulatedModule(*FILES)
    to = np.zeros(1, np.uint32)
    module.entry("k").launch(1, 1, (to,))
    assert to[0] == 3 * 2 + 100
    assert {name.rpartition("/")[2] for name in module.files.values()} >= {"a.cu", "b.cu"}
    assert text.count("unused") == 1


def test_a_name_that_two_files_define_is_refused():
    with pytest.raises(emulator.PtxError, match="defined in two"):
        emulator.EmulatedModule(*FILES, FILES[1])


def test_the_command_links_its_files(tmp_path, capsys):
    names = [tmp_path / f"{n}.ptx" for n in range(len(FILES))]
    for name, text in zip(names, FILES, strict=True):
        name.write_text(text)
    assert command_line.main([*map(str, names), "--block", "1", "--args", "zeros(1,uint32)"]) == 0
    assert "argument 1 = [106]" in capsys.readouterr().out


def test_a_program_s_kernel_launches_one_whose_fault_is_the_launch_s():
    log = host_mistakes.ProgramLog(io.StringIO())
    kernels = program_launches.ProgramKernels(log, emulator.Options(), lambda: None)
    source = """__global__ void child(int* y) { y[threadIdx.x] = 1; }
    extern "C" __global__ void k(int* y) { child<<<1, 2>>>(y); }"""
    text = compile_ptx(source, filename="k.cu", options=("-rdc=true",))
    kernels.modules[1], kernels.functions[7] = emulator.EmulatedModule(text), (1, "k")
    one, line, y = (1, 1, 1), host_lines.HostLine(), np.zeros(3, np.int32)
    for first in (1, 2):
        arguments = [GLOBAL.pointer(y[first:]).to_bytes(8, "little")]
        asked = program_launches.AskedLaunch(7, one, one, arguments, 0, False, (0, 0, 0), line)
        error = kernels.launch(asked)
    assert y.tolist() == [0, 1, 1]
    assert error == program_launches.CudaStatus.cudaErrorIllegalAddress
    events = [json.loads(row) for row in log.out.getvalue().splitlines()]
    assert [event["kind"] for event in events] == [emulator.OUT_OF_BOUNDS]


def test_options_that_choose_the_gpu_or_the_output_are_left_out():
    given = "-O3 -dc -arch=sm_70 -gencode arch=compute_70,code=sm_70 -o x -G -lcublas -lm -DN=1"
    kept = ["-O3", "-rdc=true", "-lm", "-DN=1"]
    assert program_building.nvcc_options(given.split()) == kept


@pytest.mark.parametrize(
    ("log", "wheel"),
    [
        ("p.cu:39:10: fatal error: curand_kernel.h: No such file", "nvidia-curand"),
        ("p.cu:1:10: fatal error: cublas_v2.h: No such file", "nvidia-cublas"),
        ('p.cu(1): error: could not open source file "nvrtc.h"', "nvidia-cuda-nvrtc"),
        ("p.cu:1:10: fatal error: own.h: No such file", ""),
    ],
)
def test_a_header_of_a_library_is_named_with_its_wheel(log, wheel):
    assert wheel in (said := program_building._wheel_for(log)) and bool(said) == bool(wheel)


def test_a_function_that_cuda_13_dropped_is_told_with_its_new_name():
    log = """p.cu(4): error: identifier "cudaThreadSynchronize" is undefined
p.cu(5): error: identifier "cudaThreadSynchronize" is undefined
p.cu(6): error: identifier "own" is undefined"""
    assert program_building._new_names_for(log) == (
        " CUDA 13 has no cudaThreadSynchronize: add the option "
        "-DcudaThreadSynchronize=cudaDeviceSynchronize"
    )
    assert program_building._new_names_for("own") == ""


@pytest.mark.parametrize(
    ("major", "wanted"),
    [
        (13, "cu13/lib/libnvrtc.so.13"),
        (12, "cuda_nvrtc/lib/libnvrtc.so.12"),
        (14, "cu13/lib/libnvrtc.so.13"),
    ],
)
def test_nvrtc_of_the_headers_own_cuda_is_preferred(monkeypatch, tmp_path, major, wanted):
    for name in (
        "cu13/lib/libnvrtc.so.13",
        "cuda_nvrtc/lib/libnvrtc.so.12",
        "cu13/lib/libnvrtc.alt.so.13",
    ):
        file = tmp_path / "nvidia" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    monkeypatch.setattr(runtime_compiler.sys, "path", [str(tmp_path)])
    assert runtime_compiler.nvrtc_library(major) == tmp_path / "nvidia" / wanted


def test_a_program_that_the_system_killed_gets_a_hint_about_memory():
    said = program_report.describe_outcome(program_outcome.ProgramOutcome(-9, []))
    assert "SIGKILL" in said and "memory" in said


def test_headers_of_wheels_are_found_beside_any_nvcc(monkeypatch, tmp_path):
    for name in ("cu13/include", "curand/include", "cuda_runtime/include", "cublas/lib"):
        (tmp_path / "nvidia" / name).mkdir(parents=True)
    monkeypatch.setattr(program_building.sys, "path", [str(tmp_path)])
    found = [folder.parent.name for folder in program_building.library_folders()]
    assert found == ["cu13", "curand"]  # and not the runtime's, which nvcc brings


def test_without_nvcc_it_is_said_what_to_install(monkeypatch, capsys, tmp_path):
    def none():
        raise program_building.CannotBuild(f"no nvcc: {program_building.INSTALL}")

    monkeypatch.setattr(program_building, "find_nvcc", none)
    assert run_command.main(["program.cu"]) == 2
    assert "pip install nvidia-cuda-nvcc" in capsys.readouterr().err


def test_a_run_wants_a_source(capsys):
    assert run_command.main(["-O2", "--", "x.cu"]) == 2
    assert "FILE.cu" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cudaMalloc(&d_x, n);", "d_x"),
        ("check(cudaMalloc((void **)&d_x, n));", "d_x"),
        ("cudaMalloc((void**)d_x, n);", "d_x"),
        ("cudaMalloc(&s->x, n);", "s->x"),
        ("allocate(n);", ""),
        ("cudaMalloc(&a, n); cudaMalloc(&b, n);", ""),
    ],
)
def test_an_allocation_has_the_name_of_its_variable(tmp_path, text, name):
    file = tmp_path / "x.cu"
    file.write_text(f"\n{text}\n")
    assert host_lines.named_at(host_lines.HostLine(str(file), 2), "cudaMalloc") == name


def test_a_header_that_nvcc_reaches_through_a_link_is_no_line_of_the_program(tmp_path):
    headers, link = tmp_path / "include", tmp_path / "targets" / "include"
    headers.mkdir()
    link.parent.mkdir()
    link.symlink_to(headers)
    own = host_lines.HostLine(str(tmp_path / "x.cu"), 9)
    inlined = [host_lines.HostLine(f"{tmp_path}/bin/../targets/include/cuda_runtime.h", 879), own]
    (tmp_path / "bin").mkdir()
    lines = host_lines.HostLines(tmp_path / "program.so", (str(headers),))
    lines._ranges, lines._kept = [(0, 100, 0)], {9: inlined}
    assert lines.line([10]) == own


@needs_gcc
@pytest.mark.skipif(not shutil.which("addr2line"), reason="needs addr2line")
def test_a_line_of_a_folder_with_a_space_is_found(tmp_path):
    folder = tmp_path / "Chapter 2: lines"
    folder.mkdir()
    source, library = folder / "x.c", folder / "x.so"
    source.write_text("\nint answer(void) { return 42; }\n")
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", "-o", library, source], check=True)
    shown = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    (address,) = re.findall(r"(\w+) T answer", shown)
    lines = host_lines.HostLines(library)
    assert lines._looked_up(int(address, 16)) == [host_lines.HostLine(str(source), 2)]
    assert lines._process is not None
    lines._process.communicate()


@pytest.mark.parametrize(
    ("mangled", "name"),
    [("scale", "scale"), ("_Z3addIfEvPT_S0_i", "add<float>"), ("_Z1kPfi", "k")],
)
def test_a_kernel_has_the_name_of_its_source(mangled, name):
    assert program_launches.spoken_name(mangled) in (
        name,
        mangled,
    )  # by the C++ library, if it is loaded


# --- with nvcc ---


@pytest.fixture(scope="module")
def nvcc():
    try:
        return program_building.find_nvcc()
    except program_building.CannotBuild:
        pytest.skip("needs nvcc: the extra programs")


def test_a_program_is_compiled_with_its_host_code_and_run(nvcc, capfd):
    status = run_command.main(["-O1", "-DSCALE=3", str(FOLDER / "program.cu"), "--", "100"])
    said = capfd.readouterr()
    assert said.out == "3 297 100\n" and status == 0, said.err
    assert said.err == "No findings.\n"


def test_a_mistake_in_a_destructor_has_its_line(nvcc, tmp_path, capfd):
    file = tmp_path / "copied.cu"
    file.write_text(
        "struct Buffer {\n    int *p;\n    Buffer() { cudaMalloc(&p, 40); }\n"
        "    ~Buffer() { cudaFree(p); }\n};\nint main() {\n    Buffer a;\n    Buffer b = a;\n}\n"
    )
    assert run_command.main([str(file)]) == 1
    said = capfd.readouterr().err
    assert "copied.cu:4" in said and "p, 40 bytes" in said
