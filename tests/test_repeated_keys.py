"""No table of a module is written with the same key twice: one of the two entries would be dead."""

import ast
from collections import Counter

import pytest

from course_utils.paths import ROOT

TABLES = (ast.Assign, ast.AnnAssign, ast.Expr)
MODULES = sorted((ROOT / "course_utils").rglob("*.py"))


def repeated_keys(source: str) -> list[str]:
    """The keys that a dictionary of the module has more than once, counting those of a
    ``**dict.fromkeys((...), value)`` in it."""
    found = []
    tables = (one for one in ast.parse(source).body if isinstance(one, TABLES))
    for node in (one.value for one in tables):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            names = Counter(name for key, value in pairs for name in _keys(key, value))
            found += [name for name, times in names.items() if times > 1]
    return found


def _keys(key: ast.expr | None, value: ast.expr) -> list[str]:
    if key is not None:
        return [ast.unparse(key)]
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "dict.fromkeys":
        keys = value.args[0]
        if isinstance(keys, ast.Tuple):
            return [ast.unparse(one) for one in keys.elts]
    return []


@pytest.mark.parametrize(
    "source",
    [
        "{Cause.A: 1, Cause.B: 2, Cause.A: 3}",
        "{Cause.A: 1, **dict.fromkeys((Cause.B, Cause.A), 2)}",
    ],
)
def test_a_repeated_key_is_found(source):
    assert repeated_keys(source) == ["Cause.A"]


def test_no_dictionary_repeats_a_key():
    repeated = {
        str(path.relative_to(ROOT)): keys
        for path in MODULES
        if (keys := repeated_keys(path.read_text(encoding="utf-8")))
    }
    assert repeated == {}
