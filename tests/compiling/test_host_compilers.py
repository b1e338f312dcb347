"""Which compiler there is for C and C++ on the CPU."""

import shutil
import sys

import pytest

from course_utils import environment
from course_utils.compiling import host_compilers
from course_utils.compiling.host_compilers import host_compiler
from course_utils.errors import LessonError
from course_utils.host_programs.building import build, sanitizers

VARIABLES = ("COURSE_CC", "COURSE_CXX", "CC", "CXX")


@pytest.fixture
def machine(monkeypatch):
    """A machine with these programs alone, and the ziglang package or not."""

    def pretend(*programs: str, ziglang: bool = False):
        found = {name: f"/bin/{name}" for name in programs}
        monkeypatch.setattr(host_compilers.shutil, "which", found.get)
        monkeypatch.setattr(host_compilers, "find_spec", lambda name: ziglang or None)

    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return pretend


@pytest.mark.parametrize("name", ["cc", "gcc", "clang"])
def test_any_usual_compiler_is_found(machine, name):
    machine(name)
    assert host_compiler("c").command == (f"/bin/{name}",)
    assert host_compiler("cpp") is None


def test_ziglang_is_taken_where_there_is_no_other(machine):
    machine("gcc", ziglang=True)
    assert not host_compiler("c").is_zig
    machine(ziglang=True)
    assert host_compiler("c").command == (sys.executable, "-m", "ziglang", "cc")
    assert host_compiler("cpp").command[-1] == "c++"


def test_course_cc_overrides_with_its_arguments(machine, monkeypatch):
    machine("gcc", "my cc", "zig")
    monkeypatch.setenv("COURSE_CC", "zig cc -O1")
    assert host_compiler("c").command == ("/bin/zig", "cc", "-O1")
    monkeypatch.setenv("COURSE_CC", "my cc")  # a blank in its name
    assert host_compiler("c").command == ("/bin/my cc",)


def test_a_compiler_that_is_named_and_not_there_is_an_error(machine, monkeypatch):
    machine("gcc")
    monkeypatch.setenv("COURSE_CC", "nope")
    with pytest.raises(LessonError, match="COURSE_CC is 'nope'"):
        host_compiler("c")
    line = environment._host_compilers()
    assert line.status == environment.BAD and "COURSE_CC" in line.remedy


def test_doctor_says_how_to_get_one(machine):
    machine()
    line = environment._host_compilers()
    assert line.status == environment.ABSENT
    assert "build-essential" in line.remedy and "ziglang" in line.remedy
    machine("gcc", "g++")
    assert environment._host_compilers().found == "gcc, g++"


@pytest.mark.skipif(host_compilers.find_spec("ziglang") is None, reason="needs ziglang")
def test_ziglang_builds_a_program(tmp_path):
    compiler = host_compilers.HostCompiler((sys.executable, "-m", "ziglang", "cc"), "zig")
    (tmp_path / "cell.c").write_text("int main(void) { return 0; }\n")
    built = build(compiler, ["cell.c"], tmp_path, "c17")
    assert built.status == 0 and sanitizers(compiler) and shutil.which(tmp_path / "program")
