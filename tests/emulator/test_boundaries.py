"""The emulator is a house of its own: one way in, and no way out."""

import ast
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import course_utils
from course_utils import emulator

PACKAGE = Path(course_utils.__file__).parent
EMULATOR = PACKAGE / "emulator"
ROOT = PACKAGE.parent
NAME = "course_utils.emulator"

# A module imports from its own room and from those before it, also for type checkers. Only the last
# knows all of them.
ROOMS = (
    ("isa",),
    ("numerics",),
    ("findings",),
    ("memory",),
    ("machine",),
    ("instructions",),
    ("recording", "checks"),
    ("launching",),
    ("programs",),
    ("languages",),
)
# Folders whose modules name each other for types: the state of one machine, one check's tables, a
# kernel and its launch.
TOGETHER = {"memory", "machine", "checks.uninitialised", "launching"}


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """(full name, line) of everything that a file imports, names from modules included."""
    package = (
        ("course_utils", *path.relative_to(PACKAGE).parts[:-1]) if PACKAGE in path.parents else ()
    )
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


def is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def test_nothing_in_the_emulator_imports_the_course_outside_it():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path in EMULATOR.rglob("*.py")
        if path.name != "__main__.py"  # starts the command line, which lies above
        for name, line in imports(path)
        if is_within(name, "course_utils") and not is_within(name, NAME)
    ]
    assert not wrong


def is_there(name: str) -> bool:
    """Whether a full name is a module, or a name that its module defines or imports."""
    parent, _, attribute = name.rpartition(".")
    module = import_module(parent)
    is_package = hasattr(module, "__path__")
    return hasattr(module, attribute) or (is_package and find_spec(name) is not None)


def test_what_the_emulator_imports_of_itself_is_there_for_type_checkers_too():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        for path in EMULATOR.rglob("*.py")
        for name, line in imports(path)
        if is_within(name, NAME) and not is_there(name)
    ]
    assert not wrong


def room_of(name: str) -> str:
    """The room of the emulator that a full name inside it belongs to; a module of none is one."""
    return name.removeprefix(NAME).lstrip(".").partition(".")[0]


def test_a_room_of_the_emulator_imports_none_that_comes_after_it():
    wrong = [
        f"{path.relative_to(EMULATOR).as_posix()}:{line} imports {name}"
        for level, rooms in enumerate(ROOMS)
        for room in rooms
        for path in (EMULATOR / room).rglob("*.py")
        for name, line in imports(path)
        if is_within(name, NAME) and room_of(name) not in {room, *sum(ROOMS[:level], ())}
    ]
    assert not wrong


def test_every_folder_of_the_emulator_is_a_room():
    folders = {path.parent.name for path in EMULATOR.glob("*/__init__.py")}
    assert folders == set(sum(ROOMS, ()))


def modules() -> dict[str, Path]:
    """Dotted name below the emulator -> file, packages left out."""
    files = (path for path in EMULATOR.rglob("*.py") if not path.stem.startswith("__"))
    return {".".join(path.relative_to(EMULATOR).with_suffix("").parts): path for path in files}


def reached(start: str, edges: dict[str, set[str]]) -> set[str]:
    """Every module that ``start`` imports, directly or through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for other in edges[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def test_modules_that_name_each_other_are_in_one_folder():
    known = modules()
    edges = {
        module: {
            other
            for name, _ in imports(path)
            for other in (
                name.removeprefix(f"{NAME}."),
                name.removeprefix(f"{NAME}.").rpartition(".")[0],
            )
            if other in known
        }
        for module, path in known.items()
    }
    below = {module: reached(module, edges) for module in known}
    circles = {
        (module, other) for module in known for other in below[module] if module in below[other]
    }
    folders = {(a.rpartition(".")[0], b.rpartition(".")[0]) for a, b in circles}
    assert folders <= {(folder, folder) for folder in TOGETHER}


def outsiders() -> list[Path]:
    own = (EMULATOR, ROOT / "tests/emulator")
    files = [f for top in ("course_utils", "chapters", "tests") for f in (ROOT / top).rglob("*.py")]
    # To parse a file costs more than to find that it doesn't even name the emulator.
    named = [path for path in files if EMULATOR.name in path.read_text(encoding="utf-8")]
    return [path for path in named if not any(folder in path.parents for folder in own)]


def test_outsiders_import_the_emulator_itself_and_none_of_its_modules():
    known = {f"{NAME}.{name}" for name in emulator.__all__} | {NAME}
    wrong = [
        f"{path.name}:{line} imports {name}"
        for path in outsiders()
        for name, line in imports(path)
        if is_within(name, NAME) and name not in known
    ]
    assert not wrong


@pytest.mark.parametrize("name", emulator.__all__)
def test_every_name_of_the_facade_is_there(name):
    assert getattr(emulator, name) is not None


def test_a_name_that_the_emulator_lacks_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_such"):
        emulator.nothing_such  # noqa: B018


def test_a_module_name_appears_once_in_the_emulator():
    stems = [path.stem for path in EMULATOR.rglob("*.py") if path.stem != "__init__"]
    assert sorted(stems) == sorted(set(stems))
