"""What a cell prints of the records alone is what the records of the reference GPU say today.

Such a cell is run here with nothing but the statements before it that it needs. One that needs
more (a kernel, an array on the device, another of the course's names) is left to `nbval`.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import symtable

import pytest

import course_utils
from course_utils.notebooks.canonical import read
from course_utils.notebooks.cells import find, numbered
from course_utils.paths import shown
from course_utils.records import measured_files

OF_RECORDS = {"measurements", "stored", "data_sheets"}
OTHERS = set(course_utils.__all__) - OF_RECORDS
BOUND = ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef


class Part:
    """A statement at the top of a cell: the names that it needs and those that it binds."""

    def __init__(self, node: ast.stmt) -> None:
        self.node = node
        text = ast.unparse(node)
        self.needs = _globals_read(symtable.symtable(text, "cell", "exec"))
        top = symtable.symtable(text, "cell", "exec").get_symbols()
        self.binds = {name.get_name() for name in top if name.is_assigned() or name.is_imported()}
        self.needs -= self.binds if isinstance(node, ast.FunctionDef) else set()


def _globals_read(table: symtable.SymbolTable) -> set[str]:
    at_top = table.get_type() == "module"
    found = {
        name.get_name()
        for name in table.get_symbols()
        if name.is_referenced() and (at_top or name.is_global())
    }
    return found.union(*map(_globals_read, table.get_children()))


def parts_of(source: str) -> list[Part]:
    return [] if source.startswith("%%") else [Part(node) for node in ast.parse(source).body]


def needed(cell: list[Part], before: list[Part]) -> list[Part] | None:
    """The cell's statements behind those that it needs; None where it needs more than records."""
    wanted: set[str] = set()
    chosen: list[Part] = []
    for part in reversed([*before, *cell]):
        if part in cell or (part.binds & wanted and isinstance(part.node, BOUND)):
            chosen.insert(0, part)
            wanted = wanted - part.binds | part.needs
    own = {name for part in chosen for name in part.binds}
    unknown = wanted - own - OF_RECORDS - set(dir(builtins))
    names = {name for part in chosen for name in part.needs}
    return None if unknown or names & OTHERS or not names & OF_RECORDS else chosen


def drawn(notebook: object) -> list[tuple[int, list[Part], str]]:
    """Number, statements and stored text of each cell that prints what records say."""
    before: list[Part] = []
    found = []
    for number, cell in numbered(notebook, "code"):
        cell_parts = parts_of(cell.source)
        printed = "".join(out.text for out in cell.outputs if out.output_type == "stream")
        if printed and (chosen := needed(cell_parts, before)):
            found.append((number, chosen, printed))
        before += cell_parts
    return found


def printed_by(parts: list[Part]) -> str:
    text = io.StringIO()
    module = ast.Module([part.node for part in parts], [])
    with contextlib.redirect_stdout(text):
        exec(compile(module, "cell", "exec"), {})
    return text.getvalue()


@pytest.mark.parametrize("path", find([]), ids=shown)
def test_stored_text_is_what_the_records_say(path, monkeypatch):
    monkeypatch.setattr(measured_files, "own_gpu", lambda: None)
    monkeypatch.chdir(path.parent)
    for number, parts, stored in drawn(read(path.read_text(encoding="utf-8"))):
        again = printed_by(parts)
        problem = (
            f"cell {number} of {shown(path)} was run with older records; now it prints\n{again}"
        )
        assert again.split() == stored.split(), problem


def test_most_cells_of_records_are_compared():
    books = (read(path.read_text(encoding="utf-8")) for path in find([]))
    assert sum(len(drawn(book)) for book in books) > 40
