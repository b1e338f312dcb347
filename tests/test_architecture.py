"""The package's plan: its arrows point one way, and a name stands for one thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from copy import deepcopy
from functools import cache
from inspect import isfunction
from pathlib import Path

import pytest

import course_utils
from course_utils import figures
from course_utils.paths import ROOT

PACKAGE = ROOT / "course_utils"

# Each may import those above it, and nothing below. The emulator imports nothing outside itself.
# course_utils/README.md has the same, a row of its table per level. "" is the package itself.
ROOMS = (
    {"errors", "integers"},
    {
        "paths",
        "interrupts",
        "shell",
        "palettes",
        "svg",
        "text_tables",
        "whole_files",
        "choices",
        "process_groups",
        "layouts",
        "emulator",
        "install",
        "before_first_cell",
    },
    {"remedies", "symptoms"},
    {"compiling"},
    {"devices"},
    {"stored_outputs", "gpu_run", "fingerprints"},
    {"needs"},
    {"notebook_requirements"},
    {"environment"},
    {"launching"},
    {"observing"},
    {"checking"},
    {"host_programs"},
    {"data", "records"},
    {"benchmarks", "figures", "notebooks"},
    {"stepping"},
    {"kernel_tool"},
    {"exercises"},
    {"__main__", ""},
)
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
# Here a function is imported by its bare name, often beside modules.
NAMED_APART = {"devices", "launching", "observing", "checking"}


@cache
def modules() -> dict[str, Path]:
    """Dotted name below course_utils -> file; the package itself is ""."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = file
    return found


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(name: str, at_once: bool = False) -> set[str]:
    """The modules of the course that the module ``name`` imports, anywhere in it or, ``at_once``,
    when it is loaded itself."""
    file = modules()[name]
    inside = name.split(".") if name else []
    package = inside if file.name == "__init__.py" else inside[:-1]
    found = set()
    tree = tree_of(file)
    for node in tree.body if at_once else ast.walk(tree):
        targets = []
        if isinstance(node, ast.Import):
            targets = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else None
            base = node.module.split(".") if node.module else []
            whole = ["course_utils", *above, *base] if above is not None else base
            targets = [(".".join(whole), alias.name) for alias in node.names]
        for target, member in targets:
            head, _, rest = target.partition(".")
            if head == "course_utils":
                longer = ".".join(filter(None, (rest, member)))
                found.add(longer if longer in modules() else rest)
    return found


def room(name: str) -> str:
    if name.endswith(".__main__"):  # starts what lies above, under the name of a room
        return "__main__"
    return name.partition(".")[0]


def test_modules_import_only_from_their_room_and_those_above():
    wrong = [
        f"{name} imports {other}"
        for name in sorted(modules())
        for other in sorted(imports(name))
        if room(other) != room(name) and LEVEL[room(other)] >= LEVEL[room(name)]
    ]
    assert not wrong


# The folders of a room, in the order in which they may import each other. Those of the emulator
# have a test beside it.
FOLDERS = {
    "exercises": ("isolation", "authoring", "judging", "student"),
    "benchmarks": ("harness", "libraries", "cases", "experiments", "tools"),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_of_a_room_imports_none_that_comes_after_it(name):
    folders = FOLDERS[name]
    assert {path.parent.name for path in (PACKAGE / name).glob("*/__init__.py")} == {*folders}
    wrong = [
        f"{module} imports {other}"
        for level, folder in enumerate(folders)
        for module in modules()
        if module.startswith(f"{name}.{folder}.")
        for other in imports(module)
        if other.startswith(tuple(f"{name}.{later}" for later in folders[level + 1 :]))
    ]
    assert not wrong


def test_no_modules_import_each_other_in_a_circle():
    waiting = {name: imports(name, at_once=True) & modules().keys() for name in modules()}
    for name, others in waiting.items():
        # A package that a module lies in is loaded before the module, whoever imports it.
        others.difference_update({name, room(name), ""})
    while ready := [name for name, others in waiting.items() if not others]:
        for name in ready:
            del waiting[name]
        for others in waiting.values():
            others.difference_update(ready)
    assert not waiting, f"a circle among {', '.join(sorted(waiting))}"


def test_the_name_of_a_module_is_used_once():
    """Those of packages count, but for the emulator's: it installs alone, and launches as well."""
    places = defaultdict(set)
    for name in modules().keys() - {"emulator.launching"}:
        if name and not name.endswith("__main__"):
            places[name.rpartition(".")[2]].add(name)
    assert not {leaf: names for leaf, names in places.items() if len(names) > 1}


def test_the_name_of_a_class_is_used_once():
    """An underscore before it makes no other name."""
    places = defaultdict(list)
    for name, file in modules().items():
        for node in tree_of(file).body:
            if isinstance(node, ast.ClassDef):
                places[node.name.lstrip("_")].append(name)
    assert not {cls: names for cls, names in places.items() if len(names) > 1}


LONGEST = 450  # lines of a module
# Set-up has to run as one file, before the package can be imported, and one class is CuPy's array.
LONGER = {"install", "devices.emulated_arrays"}


def test_a_module_is_no_longer_than_one_reads_at_once():
    lines = {n: len(f.read_text(encoding="utf-8").splitlines()) for n, f in modules().items()}
    assert {name for name, count in lines.items() if count > LONGEST} == LONGER


@pytest.mark.parametrize("package", (course_utils, figures), ids=lambda p: p.__name__)
def test_a_public_function_does_not_share_its_name_with_a_module(package):
    leaves = {name.rpartition(".")[2] for name in modules()}
    public = {name for name in package.__all__ if isfunction(getattr(package, name))}
    assert not public & leaves


def test_a_function_that_others_import_does_not_share_its_name_with_a_module():
    leaves = {other.rpartition(".")[2] for other in modules()}
    shared = [
        f"{name}.{node.name}"
        for name, file in sorted(modules().items())
        if room(name) in NAMED_APART
        for node in tree_of(file).body
        if isinstance(node, ast.FunctionDef) and node.name in leaves
    ]
    assert not shared


def test_the_table_of_the_rooms_in_the_readme_has_their_order():
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    table = text.partition("| room of `course_utils` |")[2].partition("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    rooms = [{name.rstrip("/") for name in re.findall(r"`([^`]+)`", cell)} for cell in cells]
    assert rooms == [{room or "course_utils" for room in level} for level in ROOMS]


def test_the_root_of_the_course_is_worked_out_once():
    finds = [n for n, f in modules().items() if "Path(__file__).resolve()" in f.read_text("utf-8")]
    assert finds == ["paths"]


def judges(tree: ast.AST) -> list[int]:
    """The lines that decide how near two numbers are: isclose, allclose, ``abs(...) < limit``."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and called(node) in ("isclose", "allclose"):
            found.append(node.lineno)
        if isinstance(node, ast.Compare) and any(
            isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in node.ops
        ):
            calls = (call.func for call in ast.walk(node) if isinstance(call, ast.Call))
            found += [node.lineno for call in calls if called(call) in ("abs", "absolute", "fabs")]
    return found


def called(node: ast.AST) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


@pytest.mark.parametrize(
    "text", ("math.isclose(a, b)", "assert np.allclose(a, b)", "if abs(a - b).max() > 1e-4: pass")
)
def test_a_judge_is_seen(text):
    assert judges(ast.parse(text)) == [1]


def test_only_checking_decides_how_near_is_right():
    files = {n: f for n, f in modules().items() if room(n) not in ("checking", "emulator")}
    found = {n: judges(tree_of(f)) for n, f in files.items()}
    assert not {name: lines for name, lines in found.items() if lines}


class _Anonymous(ast.NodeTransformer):
    """Gives names and parameters numbers, in the order in which they appear."""

    def __init__(self) -> None:
        self.numbers: dict[str, str] = {}

    def numbered(self, name: str) -> str:
        return self.numbers.setdefault(name, str(len(self.numbers)))

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.numbered(node.id))

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(self.numbered(node.arg))


LONG = 26  # nodes of a body: a shorter one isn't worth a place of its own


def equal_functions(trees: dict[str, ast.AST]) -> list[set[str]]:
    """The functions that differ in names alone, each as "file:line"."""
    alike = defaultdict(list)  # by the kinds of their nodes, which is cheap
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                kinds = tuple(type(part) for line in body for part in ast.walk(line))
                if len(kinds) >= LONG:
                    alike[kinds].append((f"{file}:{node.lineno}", [node.args, *body]))
    found = defaultdict(set)
    for functions in alike.values():
        for place, lines in functions if len(functions) > 1 else ():
            anonymous = _Anonymous()
            key = tuple(ast.dump(anonymous.visit(line)) for line in deepcopy(lines))
            found[key].add(place)
    return [places for places in found.values() if len(places) > 1]


def test_equal_functions_are_seen():
    one = "def f(x, n):\n 'Doc.'\n y = [a * n + 1 for a in x if a > n]\n return sum(y) / len(y) + n"
    other = "def g(z, m):\n w = [b * m + 1 for b in z if b > m]\n return sum(w) / len(w) + m"
    less = other.replace("1", "2")
    trees = {name: ast.parse(text) for name, text in zip("abc", (one, other, less), strict=True)}
    assert equal_functions(trees) == [{"a:1", "b:1"}]


def test_a_function_is_written_once():
    files = [*PACKAGE.rglob("*.py"), *(ROOT / "chapters").glob("*/exercises/*.py")]
    assert not equal_functions({f.relative_to(ROOT).as_posix(): tree_of(f) for f in files})
