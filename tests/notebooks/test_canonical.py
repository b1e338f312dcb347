"""A notebook has one form on disk; whatever an editor or a kernel left behind is put right."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)

from course_utils.notebooks.canonical import canonical, dumps, map_text, read, violations


def book(*cells, **metadata):
    return new_notebook(cells=list(cells), metadata=metadata)


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def only_outputs(*outputs):
    """The outputs that a code cell with ``outputs`` has in canonical form."""
    return canonical(book(new_code_cell("x", outputs=list(outputs)))).cells[0].outputs


def messages(nb) -> str:
    return "\n".join(str(violation) for violation in violations(dumps(nb)))


def test_the_canonical_form_is_its_own_canonical_form():
    nb = book(
        new_markdown_cell("# Title"),
        new_code_cell("1", outputs=[stream("a\r"), stream("b\n")], execution_count=7),
        new_markdown_cell("## Step"),
        new_code_cell("%%exercise 04.x", outputs=[stream("no")]),
    )
    once = canonical(nb)
    assert dumps(canonical(once)) == dumps(once)
    assert violations(dumps(once)) == []
    nbformat.validate(once)


def test_canonical_leaves_the_notebook_given_alone():
    nb = book(new_code_cell("x", outputs=[stream("\x1b[31mred")]))
    before = dumps(nb)
    canonical(nb)
    assert dumps(nb) == before


def test_ids_come_from_headings_and_are_distinct():
    cells = [
        new_code_cell("0"),
        new_markdown_cell("# Hello, *threads*!"),
        new_code_cell("1"),
        new_markdown_cell("## Step"),
        new_code_cell("2"),
        new_markdown_cell("## Step 2"),
    ]
    ids = [cell.id for cell in canonical(book(*cells)).cells]
    assert ids == ["start", "hello-threads", "hello-threads-2", "step", "step-2", "step-2-b"]


def test_counts_run_from_one_over_the_code_cells():
    nb = canonical(
        book(
            new_code_cell("a", execution_count=5),
            new_markdown_cell("words"),
            new_code_cell(
                "b", execution_count=9, outputs=[new_output("execute_result", {"text/plain": "3"})]
            ),
        )
    )
    assert [cell.execution_count for cell in nb.cells if cell.cell_type == "code"] == [1, 2]
    assert nb.cells[2].outputs[0].execution_count == 2


def test_a_notebook_that_never_ran_has_no_counts():
    assert canonical(book(new_code_cell("a"))).cells[0].execution_count is None


def test_streams_are_merged_and_carriage_returns_played():
    merged = only_outputs(
        stream("1 %\r"), stream("100 %\n"), stream("done\n"), stream("!", "stderr")
    )
    assert [(output.name, output.text) for output in merged] == [
        ("stdout", "100 %\ndone\n"),
        ("stderr", "!"),
    ]


def test_colours_addresses_and_cell_files_are_taken_out_of_text():
    error = new_output("error", ename="E", evalue="\x1b[1mno", traceback=["\x1b[0;31mE\x1b[0m: no"])
    text = stream("<object at 0x7f00aa> /tmp/ipykernel_12/345.py /a/b/site-packages/numpy/x.py")
    cleaned, failed = only_outputs(text, error)
    assert cleaned.text == "<object at 0x…> <cell> site-packages/numpy/x.py"
    assert (failed.evalue, failed.traceback) == ("no", ["E: no"])


def test_png_is_the_picture_that_stays():
    data = {"image/png": "iVBO\nRw0K\n", "image/svg+xml": "<svg/>", "text/plain": "<Figure>"}
    (output,) = only_outputs(new_output("display_data", data, metadata={"image/png": {"width": 3}}))
    assert output.data == {"image/png": "iVBORw0K", "text/plain": "<Figure>"}
    assert output.metadata == {}


def test_widgets_and_their_state_go():
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}}
    nb = book(new_code_cell("x", outputs=[new_output("display_data", view)]), widgets={"state": {}})
    nb = canonical(nb)
    assert nb.cells[0].outputs == [] and "widgets" not in nb.metadata


def test_the_metadata_of_a_notebook_are_its_kernel_its_time_and_needs():
    mine = {"name": "my-env", "display_name": "Mine"}
    nb = canonical(book(course={"minutes": [5, 0]}, colab={"a": 1}, kernelspec=mine))
    assert set(nb.metadata) == {"course", "kernelspec", "language_info"}
    assert nb.metadata.kernelspec.name == "python3"


def test_the_stamp_of_a_cell_stays_but_under_an_exercise():
    metadata = {"course": {"device": "H200"}, "colab": {"a": 1}}
    for source, kept in (("x", {"course": {"device": "H200"}}), ("%%exercise 01.a\n", {})):
        nb = canonical(book(new_code_cell(source, metadata=metadata)))
        assert nb.cells[-1].metadata == kept


def test_tags_and_folding_stay_in_a_cell():
    metadata = {
        "tags": ["b", "a"],
        "jupyter": {"source_hidden": True, "outputs_hidden": False},
        "execution": {"iopub.status.busy": "2024-01-01T00:00:00Z"},
    }
    cell = canonical(book(new_code_cell("x", metadata=metadata))).cells[0]
    assert cell.metadata == {"tags": ["a", "b"], "jupyter": {"source_hidden": True}}


def canonical_with(change):
    """A canonical notebook after ``change`` has spoilt it."""
    nb = canonical(book(new_markdown_cell("# T"), new_code_cell("x", outputs=[stream("a")])))
    change(nb)
    return nb


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda nb: nb.metadata.update(colab={}),
            "notebook: its metadata is not canonical (colab)",
        ),
        (lambda nb: nb.cells[1].update(id="abc"), "cell 2: its id is 'abc'"),
        (lambda nb: nb.cells[1].update(execution_count=4), "cell 2: its count is 4, not 1"),
        (
            lambda nb: nb.cells[1].metadata.update(scrolled=True),
            "cell 2: volatile metadata (scrolled)",
        ),
        (lambda nb: nb.cells[1].update(source="%%exercise x"), "cell 2: an exercise is committed"),
        (
            lambda nb: nb.cells[1].outputs[0].update(text="\x1b[1m"),
            "cell 2: its outputs are not norm",
        ),
        (lambda nb: nb.cells[0].update(source="# T\r\n"), "cell 1: its lines end in CR LF"),
        (lambda nb: nb.cells.append(new_code_cell("")), "cell 3: it is empty"),
    ],
)
def test_each_departure_is_named_with_its_cell_and_the_remedy(change, message):
    found = messages(canonical_with(change))
    assert message in found
    assert "python -m course_utils run --format" in found


def test_another_json_layout_is_named():
    text = dumps(canonical_with(lambda nb: None)).replace("\n ", "\n  ")
    assert "not laid out" in str(violations(text)[0])


def test_an_older_notebook_format_is_brought_up_to_date():
    old = '{"cells": [{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [],\
 "source": ["x"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}'
    assert violations(old)
    assert violations(dumps(canonical(read(old)))) == []


def test_the_format_is_four_point_five_whatever_it_was():
    newer = book(new_markdown_cell("# A"))
    newer.nbformat_minor = 6
    assert (canonical(newer).nbformat, canonical(newer).nbformat_minor) == (4, 5)


def test_every_text_of_an_output_is_changed_and_no_picture():
    picture = {"text/plain": "a", "text/html": "<p>a</p>", "image/png": "aaaa"}
    error = new_output("error", ename="E", evalue="a", traceback=["a", "b"])
    nb = book(
        new_code_cell("a", outputs=[stream("a"), new_output("display_data", picture), error]),
        new_markdown_cell("a"),
    )
    map_text(nb, lambda text: text.replace("a", "c"))
    first, shown, failed = nb.cells[0].outputs
    assert first.text == failed.evalue == "c" and failed.traceback == ["c", "b"]
    assert shown.data == {"text/plain": "c", "text/html": "<p>c</p>", "image/png": "aaaa"}
    assert nb.cells[0].source == nb.cells[1].source == "a"
