"""A notebook imports the modules that it uses. nbval's kernels are forks that have imported more: a
notebook that relied on that would pass there and fail for its readers."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys

import nbformat
from nbformat import NotebookNode

from course_utils.notebooks.cell_dependencies import MAGIC_LINE
from course_utils.notebooks.cells import is_hosted
from course_utils.paths import notebook_files

LEFT_TO_OTHERS = "XLA_PYTHON_CLIENT_PREALLOCATE"
NEEDS = re.compile(r"\A%%needs.*")
# Of these packages a fork has imported parts.
FORKED = {"IPython", "matplotlib", "ml_dtypes", "numpy", "torch", *sys.stdlib_module_names}
# In a kernel of its own: the modules among these names that nothing has imported.
LOOK = """
import ipykernel.kernelapp
import importlib, importlib.util, json, sys, types
missing = []
for package, names in json.load(sys.stdin):
    try:
        importlib.import_module(package)
    except ImportError:
        continue
    for name in names:
        found = sys.modules[package]
        for part in name.split("."):
            if not isinstance(found, types.ModuleType):
                break
            whole = f"{found.__name__}.{part}"
            if not hasattr(found, part) and hasattr(found, "__path__"):
                missing += [whole] if importlib.util.find_spec(whole) else []
                break
            found = getattr(found, part, None)
print(json.dumps(missing))
"""


def programs() -> dict[str, str]:
    """The Python code of each notebook."""
    found = {}
    for path in notebook_files():
        cells = nbformat.read(path, as_version=4).cells
        code = [NEEDS.sub("", cell.source) for cell in cells if _is_python(cell)]
        found["/".join(path.parts[-2:])] = MAGIC_LINE.sub("pass", "\n".join(code))
    return found


def _is_python(cell: NotebookNode) -> bool:
    code = cell.cell_type == "code" and not is_hosted(cell)
    return code and not NEEDS.sub("", cell.source).startswith("%%")


def uses(program: str) -> tuple[set[str], dict[str, set[str]]]:
    """The modules that a program imports, and of each the names it uses with dots."""
    tree, bound, imported = ast.parse(program), {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                imported.add(alias.name)
                top = alias.name.partition(".")[0]
                bound[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    names: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if parts and isinstance(node, ast.Name) and node.id in bound:
            names.setdefault(bound[node.id], set()).add(".".join(reversed(parts)))
    return imported, names


def not_imported(all_programs: dict[str, str]) -> set[tuple[str, str]]:
    """Each program with a module that it uses and doesn't import."""
    used = {name: uses(program) for name, program in all_programs.items()}
    asked: dict[str, set[str]] = {}
    for _, names in used.values():
        for package, parts in names.items():
            asked.setdefault(package, set()).update(parts)
    # What imports little first: what is there after it came from nowhere else.
    asked = {name: parts for name, parts in asked.items() if name.partition(".")[0] in FORKED}
    order = sorted(asked, key=lambda package: (package == "torch", package != "numpy", package))
    answer = subprocess.run(
        [sys.executable, "-c", LOOK],
        input=json.dumps([(package, sorted(asked[package])) for package in order]),
        capture_output=True,
        text=True,
        check=True,
    )
    missing = set(json.loads(answer.stdout))
    return {
        (name, module)
        for name, (imported, names) in used.items()
        for module in missing
        if any(
            f"{package}.{part}.".startswith(f"{module}.")
            for package, parts in names.items()
            for part in parts
        )
        and not any(f"{other}.".startswith(f"{module}.") for other in imported)
    }


def test_a_notebook_imports_the_modules_that_it_uses():
    assert not not_imported(programs())


def test_a_module_that_is_used_and_not_imported_is_found():
    lines = {
        "used": "import xml\nxml.sax.parse(1)",
        "by another name": "import xml as x\nx.sax.parse(1)",
        "imported": "import xml, xml.sax\nxml.sax.parse(1)",
        "in part": "import xml\nfrom xml.sax import handler\nxml.sax.parse(1)",
    }
    assert not_imported(lines) == {("used", "xml.sax"), ("by another name", "xml.sax")}


def test_jax_takes_as_much_of_a_gpu_as_it_needs():
    """Else it takes three quarters, and CuPy, PyTorch and other notebooks have the rest."""
    assert LEFT_TO_OTHERS in os.environ, "tests/conftest.py sets it before any test imports JAX"
    with_jax = {name: code for name, code in programs().items() if "\nimport jax" in code}
    assert with_jax
    assert not [
        n for n, code in with_jax.items() if LEFT_TO_OTHERS not in code.split("import jax")[0]
    ]
