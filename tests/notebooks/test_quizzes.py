"""Quiz questions, and the exam bank that is made of them."""

import nbformat
import pytest

from course_utils.__main__ import main
from course_utils.notebooks.quizzes import Choice, questions, to_gift
from course_utils.paths import notebook_files

CELL = """**Quiz.** Is `{x}` = 4?

See [this](other.ipynb).

<details><summary>yes</summary>

Right: 2 ~ 2.

</details>
<details><summary>no</summary>

Wrong, since `a#b`.

</details>
"""
GIFT = r"""$CATEGORY: 01_a/02_b

::01_a/02_b 1::[markdown]Is `\{x\}` \= 4?\n\nSee this. {
    =yes #2 \~ 2.
    ~no #Since `a\#b`.
}
"""


@pytest.fixture
def found(tmp_path):
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# Title"),
            nbformat.v4.new_code_cell("**Quiz"),
            nbformat.v4.new_markdown_cell(CELL),
        ]
    )
    path = tmp_path / "chapters" / "01_a" / "02_b.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    return list(questions([path]))


def test_a_cell_is_a_question_with_its_choices_and_reasons(found):
    (question,) = found
    assert question.number == 1 and question.text.startswith("Is `{x}` = 4?")
    assert question.choices == (Choice("yes", True, "2 ~ 2."), Choice("no", False, "Since `a#b`."))


def test_gift_escapes_its_own_characters_and_keeps_a_question_together(found):
    assert to_gift(found).replace(found[0].notebook, "01_a/02_b") == GIFT


def test_every_quiz_of_the_course_is_in_the_exam_bank(capsys):
    assert main(["exam"]) == 0
    bank = capsys.readouterr().out
    asked = list(questions(notebook_files()))
    assert len(asked) > 150 and bank.count("[markdown]") == len(asked)
    assert all(sum(choice.right for choice in question.choices) == 1 for question in asked)
    for block in bank.strip().split("\n\n"):
        lines = block.splitlines()
        assert block.startswith("$CATEGORY") or (lines[0].endswith("{") and lines[-1] == "}")
        assert all(line.startswith(("    =", "    ~")) for line in lines[1:-1])


def test_a_chapter_can_be_asked_for_and_one_without_a_quiz_is_told(capsys):
    assert main(["exam", "04_first_kernels/15_cooperation"]) == 0
    assert capsys.readouterr().out.count("$CATEGORY") == 1
    assert main(["exam", "00_start_here/02_glossary"]) == 1
    assert "no quiz question" in capsys.readouterr().err
