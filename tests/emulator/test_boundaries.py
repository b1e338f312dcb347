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

# Each may import those before it; from those after it, only what type checkers alone read.
ROOMS = (("machine",), ("instructions",), ("checks", "recording"))
# Where the parts of a launch are put together: the instructions fill the machine's tables, and the
# observers are chosen when a kernel is launched.
WIRING = {
    ("machine/emulated_module.py", "instructions"),
    ("machine/emulated_module.py", "watchers"),
}


def imports(path: Path, types_too: bool = True) -> Iterator[tuple[str, int]]:
    """(full name, line) of everything that a file imports, names from modules included; without
    ``types_too`` not what stands under ``if TYPE_CHECKING``."""
    package = (
        ("course_utils", *path.relative_to(PACKAGE).parts[:-1]) if PACKAGE in path.parents else ()
    )
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not types_too:
        tree.body = [n for n in tree.body if not _is_for_types(n)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


def _is_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


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
        for name, line in imports(path, types_too=False)
        if is_within(name, NAME) and room_of(name) not in {room, *sum(ROOMS[:level], ())}
        if (path.relative_to(EMULATOR).as_posix(), room_of(name)) not in WIRING
    ]
    assert not wrong


def outsiders() -> list[Path]:
    own = (EMULATOR, ROOT / "tests/emulator")
    files = [f for top in ("course_utils", "chapters", "tests") for f in (ROOT / top).rglob("*.py")]
    return [path for path in files if not any(folder in path.parents for folder in own)]


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
