"""Every house rule accepts a good notebook and rejects a bad one, with words that help."""

from __future__ import annotations

import copy

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from course_utils.notebooks.canonical import canonical, dumps
from course_utils.notebooks.rules import RULES, violations


def output(text):
    return new_output("stream", text=text)


def add(cell):
    """Put ``cell`` before the last one."""
    return lambda nb: nb.cells.insert(-1, cell)


def printed(text):
    return add(new_code_cell("show()", outputs=[output(text)]))


def markdown(text):
    return add(new_markdown_cell(text))


def picture(kind):
    return add(new_code_cell("x", outputs=[new_output("display_data", {kind: "abc"})]))


ERROR = new_output("error", ename="ValueError", evalue="no", traceback=[])

GOOD = {
    "a deliberate error": add(
        new_code_cell("boom()", outputs=[ERROR], metadata={"tags": ["raises-exception"]})
    ),
    "an anchor as GitHub makes it": markdown("[x](../00_start/01_start.ipynb#set-up)"),
    "an anchor of its own": markdown("[x](#Vector-add)"),
    "an external link": markdown("[x](https://example.com/nowhere.ipynb)"),
    "a link in code": markdown("`a[i](j)` and\n```\nx[i](j.md)\n```\n"),
    "a web address with home in it": markdown("<https://example.com/home/user>"),
    "a long exercise": add(new_code_cell("%%exercise 01.b\n" + "int x;\n" * 40)),
    "a list": markdown("Two things:\n\n- one\n  of them\n- and\n- so on\n\n```\na\n- b\n```\n"),
    "code and a table in HTML": markdown(
        "<details><summary><code>a_b</code> * 2, `n</summary>\n\n`a_b`, **so**\n\n</details>\n\n"
        "```\n<details>`x`\n```\n\n<b>not a block</b> of `HTML`, and `<details>`"
    ),
    "25 lines": add(new_code_cell("\n\n".join(["x = 1"] * 25))),
    "another file": add(new_code_cell('print((FOLDER / "seen.txt").read_text())')),
    "a shown kernel": add(new_code_cell("show(add)\nwrong = add.source\nprint(1)")),
    "a fraction": printed("4/work and a/home/b, bytes/tmp"),
}


def needs(name):
    """Its metadata ask for the notebook ``name``."""

    def spoil(nb):
        nb.metadata["course"] = {"minutes": [5, 0], "needs": {name: ""}}

    return spoil


def taking(minutes):
    """Its metadata have other minutes than its first cell."""

    def spoil(nb):
        nb.metadata["course"] = {"minutes": [minutes, 0], "needs": {}}
        nb.cells[0].source += "\n\nIt takes about 5 minutes to read and run."

    return spoil


def having(course):
    """Its metadata have this for the list of lessons."""

    def spoil(nb):
        nb.metadata["course"] = course

    return spoil


BAD = {
    "one number of minutes": (having({"minutes": [45]}), "course.minutes must be two integers"),
    "minutes in words": (having({"minutes": ["45", "30"]}), "course.minutes must be two integers"),
    "a list of needs": (having({"needs": ["01_first"]}), "course.needs must have a string for"),
    "a need of a number": (having({"needs": {"01_first": 1}}), "course.needs must have a string"),
    "no table of times and needs": (having(45), "metadata course must be like"),
    "a need that comes later": (needs("01_first/02_later"), "it needs 01_first/02_later, which"),
    "a need of no notebook": (needs("00_start/09_none"), "needs 00_start/09_none, and no notebook"),
    "its own need": (needs("01_first/01_add"), "it needs 01_first/01_add, which comes later"),
    "other minutes": (taking(40), "doesn't say its time and needs as the list of lessons has it"),
    "a sum over two lines": (markdown("It is `a\n+ b`."), "text for a list: + b`."),
    "an answer with its number first": (markdown("Why?\n\n18. Each of 9"), "for a list: 18. Each"),
    "code in a fold's title": (
        markdown("<details><summary>In the `if` line</summary>\n\nWhy.\n\n</details>"),
        "is shown as it stands: `if`",
    ),
    "bold in HTML": (markdown("Text.\n\n<div>\nIt is **so**.\n</div>"), "as it stands: **so**"),
    "a link in HTML": (markdown("<p>[x](a.md)</p>"), "as it stands: [x](a.md)"),
    "an error": (add(new_code_cell("boom()", outputs=[ERROR])), "an error: ValueError: no"),
    "a home folder": (printed("in /home/ann/x.cu"), "one machine: /home/ann/x.cu"),
    "a Windows path": (printed(r"C:\Users\ann"), r"one machine: C:\Users\ann"),
    "a path in the source": (add(new_code_cell("open('/tmp/x')")), "its source names a path"),
    "a host": (printed("ann@gpu-7:~/course"), "names a host: ann@gpu-7:~"),
    "a dead link": (markdown("[x](02_nowhere.ipynb)"), "link to 02_nowhere.ipynb leads nowhere"),
    "a dead picture": (markdown("![x](../fig.svg)"), "link to ../fig.svg leads nowhere"),
    "a dead HTML picture": (markdown('<img src="a.svg">'), "link to a.svg leads nowhere"),
    "a dead anchor": (markdown("[x](../00_start/01_start.ipynb#no)"), "has the anchor #no"),
    "a kernel not there": (
        add(new_code_cell('load("01_first/sub.cu")')),
        "there is no kernels/01_first/sub.cu",
    ),
    "a long cell": (add(new_code_cell("x = 1\n" * 26)), "26 lines of code; a cell has at most 25"),
    "a private import": (
        add(new_code_cell("from course_utils.emulator.machine import Module")),
        "it imports from course_utils.emulator.machine",
    ),
    "an unknown name": (
        add(new_code_cell("from course_utils import (figures,\n    _secret)")),
        "it imports _secret, not a public name",
    ),
    "a module": (add(new_code_cell("import course_utils.emulator")), "imports course_utils.emul"),
    "a printed kernel": (add(new_code_cell("print(add.source)")), "prints the source of a kernel"),
    "a printed part": (
        add(new_code_cell('x = 1\nprint("extern" + add.source.split("extern")[1])')),
        "prints the source of a kernel",
    ),
    "a printed file": (
        add(new_code_cell('print((FOLDER / "01_first/add.cu").read_text(encoding="utf-8"))')),
        "prints the source of a kernel",
    ),
    "no title": (lambda nb: nb.cells.pop(0), "cell 1: it is not the title"),
    "no next": (lambda nb: nb.cells.pop(), "no link to the next notebook"),
    "an SVG": (picture("image/svg+xml"), "its output holds image/svg+xml"),
    "a JPEG": (picture("image/jpeg"), "its output holds image/jpeg"),
    "a figure without words": (lambda nb: nb.cells.pop(3), "not followed by words"),
    "a quiz without reasons": (
        markdown("**Quiz.** Why?\n<details><summary>A</summary>\n\nRight.\n\n</details>"),
        "does not explain the choice “A”",
    ),
    "a compared cell that may be skipped": (
        add(new_code_cell("%%needs gpu\nx", metadata={"tags": ["nbval-check-output"]})),
        "prints something else where it is skipped",
    ),
    "a badge where no address asks for one": (
        add(new_markdown_cell("Open in Colab", metadata={"tags": ["hosted"]})),
        "its cells for Colab and Kaggle",
    ),
}


def found(repository, nb) -> str:
    path = repository.commit(nb)
    return "\n".join(str(violation) for violation in violations(path, repository.root))


def test_a_good_notebook_breaks_no_rule(repository, good):
    assert found(repository, good) == ""


@pytest.mark.parametrize("name", GOOD)
def test_what_only_looks_wrong_is_accepted(name, repository, good):
    GOOD[name](good)
    assert found(repository, good) == ""


@pytest.mark.parametrize("name", BAD)
def test_a_broken_rule_is_named(name, repository, good):
    spoil, message = BAD[name]
    spoil(good)
    assert message in found(repository, good)


def test_output_of_an_exercise_is_refused(repository, good):
    path = repository.commit(good)
    text = path.read_text()
    exercise = text.index('"outputs": []')
    spoilt = '"outputs": [{"name": "stdout", "output_type": "stream", "text": ["FAIL"]}]'
    path.write_text(text[:exercise] + spoilt + text[exercise + len('"outputs": []') :])
    assert "an exercise is committed without output" in str(violations(path, repository.root)[0])


def test_a_stale_stamp_is_refused(repository, good):
    path = repository.commit(good)
    repository.write("kernels/01_first/add.cu", "// changed")
    assert "stale" in str(violations(path, repository.root)[0])


def test_what_no_cell_is_to_blame_for_is_said_of_the_notebook(repository, good):
    path = repository.write("chapters/01_first/01_add.ipynb", dumps(canonical(good)))
    text = repository.commit(good).read_text()
    path.write_text(text + "\n")
    (laid_out,) = violations(path, repository.root)
    add(new_markdown_cell("Open in Colab", metadata={"tags": ["hosted"]}))(good)
    (badge,) = violations(repository.commit(good), repository.root)
    for found in (laid_out, badge):
        assert str(found).startswith("notebook: "), found


def test_every_check_is_tried_by_a_bad_notebook(repository, good):
    """No check may be there that nothing has ever failed."""
    failed = set()
    for spoil, _ in BAD.values():
        nb = copy.deepcopy(good)
        spoil(nb)
        failed |= {c.__name__ for c in RULES if c(nb, repository.path, repository.root)}
    apart = {"has_exercises_without_output"}
    assert {c.__name__ for c in RULES} - apart <= failed
