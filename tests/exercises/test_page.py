"""The page of an exercise: what is read, what is refused, and where the mistake is."""

import pytest

from course_utils.choices import after, before
from course_utils.exercises.authoring.page import PageError, parse_page

PAGE = """# A tree

Find the smallest
of each block.

- one
- two

## Hints

- Guard with
  `i < n`.
- `x = 1;`

## Explanation

An identity.

### More

It changes nothing.

## Wrong answers

- zeros: all of them — wrong at the edges only: x[i] : «inf→0.0f»
- a loop — data race: if (t < d) {«→
    - x;
    while (1);»
- two — wrong values:
  - «a→b» + 1
  - «c→» and «d→e»
"""
ONE = "# t\n\nt\n\n## Hints\n\n- h\n\n## Explanation\n\ne\n\n## Wrong answers\n\n"


def test_a_page_is_read_as_it_is_written():
    page = parse_page(PAGE, "tree.md")
    assert page.title == "A tree"
    assert page.task == "Find the smallest\nof each block.\n\n- one\n- two"
    assert page.hints == ("Guard with `i < n`.", "`x = 1;`")
    assert page.explanation == "An identity.\n\n### More\n\nIt changes nothing."
    assert [(m.name, m.kind, m.changes) for m in page.mutants] == [
        ("zeros: all of them", "wrong at the edges only", (("x[i] : inf", "x[i] : 0.0f"),)),
        ("a loop", "data race", (("if (t < d) {", "if (t < d) {\n    - x;\n    while (1);"),)),
        ("two", "wrong values", (("a + 1", "b + 1"), ("c and d", " and e"))),
    ]


def test_blank_lines_after_a_list_of_changes_are_no_part_of_them():
    page = parse_page(ONE + "- two — scaled:\n\n  - «a→b» 3\n\n- one — scaled: «c→d»\n\n", "t.md")
    assert [m.changes for m in page.mutants] == [(("a 3", "b 3"),), (("c", "d"),)]


@pytest.mark.parametrize("mark", ["```", "````", "~~~"])
def test_a_heading_inside_a_code_fence_is_text(mark):
    code = f"{mark}python\n## Hints\n## X\n``\n{mark}"
    text = ONE.replace("\nt\n", f"\n{code}\n").replace("\ne\n", f"\n- e\n  {code}\n")
    page = parse_page(text + "- one — scaled: «c→d»\n", "t.md")
    assert (page.task, page.explanation) == (code, f"- e\n  {code}")
    assert (page.hints, len(page.mutants)) == (("h",), 1)


def test_a_page_may_have_no_wrong_answers():
    assert parse_page(ONE.partition("## Wrong")[0], "t.md").mutants == ()


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "t.md:1: a page begins with its title"),
        ("Task\n", "t.md:1: a page begins with its title"),
        (ONE.replace("# t\n", "# \n", 1), "t.md:1: a page begins with its title"),
        (ONE.replace("\nt\n", "\n"), "t.md:1: the task is empty"),
        (ONE.replace("\ne\n", "\n"), "t.md:9: the explanation is empty"),
        (ONE.replace("- h\n", "- h\n- \n"), "t.md:8: a hint is empty"),
        (ONE.replace("- h\n", "-\n- h\n"), "t.md:7: a hint is empty"),
        (ONE.replace("\nt\n", "\nt\n```\nx\n"), "t.md:4: the code .* doesn't end: add ```"),
        ("# t\n\n## Hint\n", "t.md:3: the parts of a page are .*not `## Hint`"),
        ("# t\n\n## Hints\n\n- h\n", "`## Explanation` is missing"),
        (ONE.replace("- h", "h"), "t.md:7: an item of the list begins with `- `"),
        (ONE + "- a: «b→c»\n", "t.md:15: a wrong answer is"),
        (ONE + "- a — wrong values: b\n", "t.md:15: each change .* needs a choice"),
        (ONE + "- a — wrong values:\n  - b\n", "t.md:15: each change .* needs a choice"),
        (ONE + "- a — wrong values: «b→c» d»\n", "t.md:15: .* lone »"),
        (ONE + "- a — wrong values: «b→c»\n- a — scaled: «b→d»\n", "two wrong .*'a'"),
        (ONE + "## Hints\n", "t.md:15: `## Hints` comes twice"),
    ],
)
def test_a_mistake_is_named_with_its_line(text, words):
    with pytest.raises(PageError, match=words):
        parse_page(text, "t.md")


def test_a_choice_is_two_texts():
    text = "x << «1→2», «→a»b"
    assert (before(text), after(text)) == ("x << 1, b", "x << 2, ab")
