"""``%%needs``: met, the cell runs unchanged; unmet, it shows what it gave elsewhere, if known."""

import json
import sys
import tomllib
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import pytest

from course_utils import needs, remedies, stored_outputs
from course_utils import notebook_requirements as whole
from course_utils.compiling.host_compilers import FROM_A_DISTRIBUTION, HOW_TO_GET
from course_utils.errors import LessonError
from course_utils.paths import ROOT


@pytest.fixture
def machine(monkeypatch):
    """A machine with as many GPUs, of the capability, asked for."""

    def pretend(gpus: int, capability: int = 90):
        monkeypatch.setattr(needs, "gpu_count", lambda: gpus)
        monkeypatch.setattr(needs, "capability", lambda: capability if gpus else 0)
        needs.lacking.cache_clear()

    yield pretend
    needs.lacking.cache_clear()


def test_the_emulator_lacks_a_gpu(machine):
    machine(0)
    assert needs.missing(["gpu"]) == ["a GPU"]
    assert needs.missing(["sm_90"]) == ["an sm_90 GPU"]
    assert needs.missing(["gpus=2"]) == ["2 GPUs"]


def test_a_hopper_has_what_came_before_but_not_what_came_after(machine):
    machine(1, 90)
    assert needs.missing(["gpu", "sm_80", "sm_90", "sm_90a"]) == []
    assert needs.missing(["sm_80a", "sm_100a", "gpus=2"]) == [
        "an sm_80a GPU",
        "an sm_100a GPU",
        "2 GPUs",
    ]


def test_programs_and_packages_are_looked_up(monkeypatch):
    needs.lacking.cache_clear()
    monkeypatch.setattr(needs.shutil, "which", lambda name: None)
    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    assert needs.missing(["nvcc", "triton"]) == ["nvcc", "Triton"]
    needs.lacking.cache_clear()


@pytest.mark.parametrize("there", [True, False])
def test_a_package_may_be_imported_by_another_name(monkeypatch, there):
    needs.lacking.cache_clear()
    monkeypatch.setattr(needs, "find_spec", lambda name: there and name == "nvidia_cutlass_dsl")
    assert needs.missing(["cutlass-dsl"]) == ([] if there else ["CUTLASS's Python DSL"])
    needs.lacking.cache_clear()


@pytest.mark.parametrize("there", [True, False])
def test_a_library_of_cuda_is_there_where_it_can_be_loaded(monkeypatch, there):
    def load_nvidia_dynamic_lib(name):
        if not there:
            raise RuntimeError(f"no {name} in any wheel or toolkit")
        return name

    finder = SimpleNamespace(load_nvidia_dynamic_lib=load_nvidia_dynamic_lib)
    needs.lacking.cache_clear()
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", finder)
    assert needs.missing(["curand"]) == ([] if there else ["cuRAND"])
    needs.lacking.cache_clear()


def test_a_machine_without_the_finder_of_libraries_has_none(monkeypatch):
    needs.lacking.cache_clear()
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)  # importing it fails
    assert needs.missing(["curand"]) == ["cuRAND"]
    assert "nvidia-curand" in needs.how_to_get(["curand"])
    needs.lacking.cache_clear()


def test_a_module_in_a_package_that_is_not_there_is_not_there(monkeypatch):
    def find_spec(module):
        raise ModuleNotFoundError(module.split(".")[0])  # as importlib does for nvidia.mathdx

    needs.lacking.cache_clear()
    monkeypatch.setattr(needs, "find_spec", find_spec)
    assert needs.missing(["mathdx"]) == ["the MathDx headers"]
    assert "nvidia-mathdx" in needs.how_to_get(["mathdx"])
    needs.lacking.cache_clear()


def test_a_package_with_an_extra_for_each_cuda_is_named_with_its_own(monkeypatch):
    needs.lacking.cache_clear()
    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    monkeypatch.setattr(needs, "nvrtc_version", lambda: (13, 0))
    assert "'nvmath-python[cu13]'" in needs.how_to_get(["nvmath"])
    assert "'cuda-cccl[cu13]'" in needs.how_to_get(["cuda-cccl"])
    needs.lacking.cache_clear()


def test_headers_alone_are_no_reason_for_a_gpu():
    assert needs.needs_languages("%%needs mathdx\nx = 1")
    assert not needs.needs_languages("%%needs mathdx gpu\nx = 1")


@pytest.mark.parametrize("gone", ["nm", "objdump", "ar"])
def test_a_word_for_several_programs_needs_all_of_them(monkeypatch, gone):
    needs.lacking.cache_clear()
    monkeypatch.setattr(needs.shutil, "which", lambda name: None if name == gone else name)
    assert needs.missing(["binutils"]) == ["nm, objdump and ar (binutils)"]
    needs.lacking.cache_clear()


@pytest.mark.parametrize("name", ["cc", "gcc", "clang"])
def test_any_c_compiler_will_do(monkeypatch, name):
    needs.lacking.cache_clear()
    monkeypatch.setattr(
        needs.shutil, "which", lambda asked: f"/bin/{name}" if asked == name else None
    )
    assert needs.missing(["cc"]) == []
    needs.lacking.cache_clear()


def test_without_a_c_compiler_a_cell_says_so(monkeypatch):
    needs.lacking.cache_clear()
    monkeypatch.setattr(needs.shutil, "which", lambda asked: None)
    assert needs.skip_line(needs.missing(["cc"])) == "Skipped here: needs a C compiler."
    needs.lacking.cache_clear()


@pytest.mark.parametrize("there", [True, False])
def test_any_c_plus_plus_compiler_will_do(monkeypatch, there):
    needs.lacking.cache_clear()
    monkeypatch.setattr(
        needs.shutil, "which", lambda asked: asked if there and asked == "clang++" else None
    )
    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    assert needs.missing(["c++"]) == ([] if there else ["a C++ compiler"])
    needs.lacking.cache_clear()


def test_torch_compile_wants_a_path_without_blanks(monkeypatch):
    needs.lacking.cache_clear()
    monkeypatch.setattr(needs.shutil, "which", lambda asked: asked)
    for folder, there in (("/a course", False), ("/Müller", True)):
        needs.lacking.cache_clear()
        origin = f"{folder}/torch/__init__.py"
        monkeypatch.setattr(
            needs, "find_spec", lambda name, at=origin: ModuleSpec(name, None, origin=at)
        )
        found = needs.missing(["torch", "c++"])
        assert bool(found) != there
        assert there or "without blanks" in found[0]
    needs.lacking.cache_clear()


@pytest.mark.parametrize(("magic", "words"), [("%%c", "a C"), ("%%cpp", "a C++")])
def test_a_cell_of_c_needs_a_compiler_without_saying_so(monkeypatch, magic, words):
    cell = [f"{magic} stdin=3\n", "int main(void) { return 0; }\n"]
    for found in (None, "gcc"):
        needs.lacking.cache_clear()
        monkeypatch.setattr(needs, "host_compiler", lambda language, found=found: found)
        changed = needs.transform(cell)
        assert (changed == cell) == (found is not None)
    needs.lacking.cache_clear()
    monkeypatch.setattr(needs, "host_compiler", lambda language: None)
    assert needs.skip_line(needs.missing(["c"])) == "Skipped here: needs a C compiler."
    assert needs.may_be_skipped("".join(cell)) and not needs.may_be_skipped("print(1)\n")
    assert f"{words} compiler" == needs.lacking(needs.PROGRAM_MAGICS[magic])
    needs.lacking.cache_clear()


def test_an_unknown_word_is_an_error():
    with pytest.raises(LessonError, match="%%needs cuda13: unknown requirement. .* ninja"):
        needs.missing(["cuda13"])


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["an sm_90 GPU"], "Skipped here: needs an sm_90 GPU."),
        (["a GPU", "nvcc"], "Skipped here: needs a GPU and nvcc."),
        (["a GPU", "nvcc", "Triton"], "Skipped here: needs a GPU, nvcc and Triton."),
    ],
)
def test_a_skipped_cell_prints_one_line(words, line):
    assert needs.skip_line(words) == line


@pytest.mark.parametrize(
    ("tokens", "line"),
    [
        (["torch"], "In a terminal, `make torch` fetches it."),
        (["jax", "keras"], "In a terminal, `make ecosystem` fetches it."),
        (["torch", "onnx"], "In a terminal, `make torch` and `make ecosystem` fetch it."),
        (["gpu", "torch"], ""),
        (
            ["triton", "warp"],
            "In a terminal, `.venv/bin/pip install -e '.[triton,warp]'` fetches Triton (1 GB, for "
            "Linux) and Warp (390 MB). No GPU is needed.",
        ),
        (["gpu", "triton"], ""),
        (["nvcc"], needs.TOOLKIT),
        (["gpu", "nvcc"], ""),
        (["cpp"], HOW_TO_GET),
        (["torch", "c++"], f"In a terminal, `make torch` fetches it. {FROM_A_DISTRIBUTION}."),
        (["cc", "binutils"], f"{FROM_A_DISTRIBUTION}."),
    ],
)
def test_a_package_that_make_can_fetch_is_named_with_its_command(
    machine, monkeypatch, tokens, line
):
    machine(0)
    monkeypatch.setattr(remedies, "in_the_course_s_own", lambda: True)
    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    monkeypatch.setattr(needs.shutil, "which", lambda name: None)
    monkeypatch.setattr(needs, "host_compiler", lambda language: None)
    assert needs.how_to_get(tokens) == line


def test_a_cell_that_reads_what_a_skipped_program_would_have_printed_is_skipped(
    machine, monkeypatch, capsys
):
    machine(0)
    monkeypatch.setattr(needs, "host_compiler", lambda language: None)
    monkeypatch.setattr(needs, "_unmade", {})
    shell = SimpleNamespace(user_ns={})
    monkeypatch.setattr(needs, "running_shell", lambda: shell)
    draw, other = ["figures.memory_map(printed)\n"], ["print(reprinted)\n"]
    assert needs.transform(draw) == draw
    (call,) = needs.transform(["%%c sanitize=off into=printed\n", "int main(void) {}\n"])
    exec(call)
    assert needs.HOW_TO_GET in capsys.readouterr().out
    exec("".join(needs.transform(draw)))
    told = "Skipped here: `printed` comes from a program above, which needs a C compiler.\n"
    assert capsys.readouterr().out == told
    assert needs.transform(other) == other
    shell.user_ns["printed"] = "x"  # a compiler came, or the reader made the name
    assert needs.transform(draw) == draw


def test_what_is_there_is_not_fetched(machine, monkeypatch):
    machine(1)
    monkeypatch.setattr(needs, "find_spec", lambda name: name)
    assert needs.how_to_get(["jax", "torch"]) == ""


def test_the_packages_of_the_ecosystem_are_those_of_its_extra():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    pins = tomllib.loads(text)["project"]["optional-dependencies"]["ecosystem"]
    assert tuple(pin.split(">=")[0] for pin in pins) == needs.ECOSYSTEM


@pytest.fixture
def shell():
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell()
    needs.register(shell)
    return shell


def test_an_unmet_cell_prints_its_line_and_does_not_run(machine, shell, capsys):
    machine(0)
    result = shell.run_cell("%%needs sm_90\nran = 1 / 0")
    assert result.success and "ran" not in shell.user_ns
    assert capsys.readouterr().out == "Skipped here: needs an sm_90 GPU.\n"


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Stores the outputs that a cell gave on an H200."""
    monkeypatch.setattr(stored_outputs, "FOLDER", tmp_path)

    def put(source, *outputs):
        content = {"device": "NVIDIA H200", "cells": {stored_outputs.key(source): list(outputs)}}
        (tmp_path / "01_first").mkdir()
        (tmp_path / "01_first" / "01_add.json").write_text(json.dumps(content))

    return put


def test_an_unmet_cell_prints_what_it_printed_on_the_gpu(machine, shell, store, capsys):
    machine(0)
    cell = "%%needs gpu\nmeasure()"
    store(cell, {"text/plain": ["2 ms\n", "3 ms\n"]})
    assert shell.run_cell(cell).success
    assert capsys.readouterr().out == (
        "Skipped here: needs a GPU.\nOn an NVIDIA H200 it printed:\n2 ms\n3 ms\n"
    )


def test_an_unmet_cell_shows_its_pictures(machine, shell, store, capsys, monkeypatch):
    machine(0)
    published = []
    display = pytest.importorskip("IPython.display")
    monkeypatch.setattr(display, "publish_display_data", published.append)
    monkeypatch.setattr(stored_outputs, "running_shell", lambda: shell)
    figure = {"image/png": "iVBORw0KGgo=", "text/plain": ["<Figure>"]}
    store("%%needs gpu\ndraw()", figure, {"text/plain": ["done\n"]})
    assert shell.run_cell("%%needs gpu\ndraw()").success
    assert published == [{"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}]
    assert capsys.readouterr().out.endswith("On an NVIDIA H200 it showed:\ndone\n")


def test_what_needs_no_gpu_came_from_the_machine_around_it(
    machine, shell, store, capsys, monkeypatch
):
    machine(0)
    monkeypatch.setattr(needs.shutil, "which", lambda name: None)
    cell = "%%needs nvcc\nbuild()"
    store(cell, {"text/plain": ["built\n"]})
    shell.run_cell(cell)
    assert "On a machine with an NVIDIA H200 it printed:\nbuilt\n" in capsys.readouterr().out


def test_a_changed_cell_prints_its_line_alone(machine, shell, store, capsys):
    machine(0)
    store("%%needs gpu\nmeasure()", {"text/plain": ["2 ms\n"]})
    shell.run_cell("%%needs gpu\nmeasure(other)")
    assert capsys.readouterr().out == "Skipped here: needs a GPU.\n"


def test_a_met_cell_runs_and_shows_its_last_value(machine, shell):
    machine(1)
    result = shell.run_cell("%%needs gpu\nx = 2\nx + 1")
    assert result.success and result.result == 3


def test_a_met_cell_keeps_its_line_numbers(machine, shell):
    machine(1)
    result = shell.run_cell("%%needs gpu\n\n1 / 0")
    assert result.error_in_exec.__traceback__.tb_next.tb_lineno == 3


def test_another_magic_may_follow(machine, shell):
    machine(1)
    shell.register_magic_function(lambda line, cell: cell.upper(), "cell", "shout")
    assert shell.run_cell("%%needs gpu\n%%shout\nhello\n").result == "HELLO\n"


def test_a_wrong_word_fails_the_cell(shell, capsys):
    assert not shell.run_cell("%%needs a_gpu\nx = 1").success
    assert not shell.run_cell("%%needs\nx = 1").success


def test_other_cells_are_left_alone(shell):
    assert needs.transform(["x = 1\n", "%%needs gpu\n"]) == ["x = 1\n", "%%needs gpu\n"]
    assert needs.transform([]) == []


def test_a_notebooks_needs_are_read_from_its_cells(machine, tmp_path):
    machine(0)
    path = tmp_path / "01_topic.ipynb"
    sources = ["x = 1", "%%needs gpu\ny = 2", "%%needs gpu sm_100a\nz = 3"]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": "#"}, *cells]}))
    found = whole.notebook_needs(path)
    assert found.tokens == ("gpu", "sm_100a")
    assert found.skipped == 2
    assert found.verdict() == "runs here but for 2 of 3 cells: needs a GPU and an sm_100a GPU"


def test_a_notebook_that_needs_nothing_runs_everywhere(machine, tmp_path):
    machine(0)
    path = tmp_path / "01_topic.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": "x = 1"}]}))
    assert whole.notebook_needs(path).verdict() == "runs here"


def test_what_wants_a_package_leaves_out_cells_that_it_would_not_help(
    machine, tmp_path, monkeypatch
):
    machine(0)
    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    sources = ["%%needs torch\nx = 1", "%%needs torch\ny = 1", "%%needs gpu torch\nz = 1"]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    path = tmp_path / "01_topic.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    monkeypatch.setattr(whole, "all_notebooks", lambda: [whole.notebook_needs(path)])
    assert whole.wanting("torch") == f"wanted by 2 cells of {tmp_path.name}/01_topic"
    assert whole.wanting("triton") == "wanted by no notebook"


@pytest.mark.parametrize(
    ("source", "only"),
    [
        ("%%needs triton\nrun()", True),
        ("%%needs triton numba\nrun()", True),
        ("%%needs gpu triton\nrun()", False),
        ("%%needs torch\nrun()", False),
        ("run()", False),
    ],
)
def test_a_cell_that_needs_only_compilers_of_kernels_runs_the_same_everywhere(source, only):
    assert needs.needs_languages(source) == only


@pytest.mark.parametrize(
    "tokens, machine",
    [
        (["triton", "warp"], "a machine with Triton and Warp"),
        (["torch"], "a machine with PyTorch"),
        (["torch", "c++"], "the emulator"),
        (["nvcc"], "the emulator"),
    ],
)
def test_an_output_of_the_emulator_comes_from_a_machine_with_the_package(tokens, machine):
    stored = needs.stored_outputs.StoredOutputs("emulator", [{"text/plain": "4"}])
    assert needs.origin(tokens, stored) == f"On {machine} it printed:"


def test_each_language_has_an_extra_of_its_name():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert needs.LANGUAGES.keys() <= extras["project"]["optional-dependencies"].keys()


def test_a_numba_that_its_numpy_breaks_is_lacking(monkeypatch):
    monkeypatch.setattr(needs, "find_spec", lambda name: True)
    for numpy, lacking in (("2.5.1", "a Numba that works with NumPy 2.5.1"), ("2.4.6", None)):
        monkeypatch.setattr(needs, "version", lambda name, numpy=numpy: numpy)
        assert needs.lacking.__wrapped__("numba") == lacking
