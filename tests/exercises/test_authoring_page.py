"""The exercise that AUTHORING.md shows is complete, and proves itself."""

import re

from course_utils.exercises.authoring import registry, spec
from course_utils.exercises.judging.verify import proofs
from course_utils.paths import ROOT

TEXT = (ROOT / "course_utils" / "exercises" / "AUTHORING.md").read_text(encoding="utf-8")


def block(language, word):
    """The fenced code block in ``language`` that contains ``word``."""
    found = re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.M | re.S)
    return next(text for text in found if word in text)


def test_the_exercise_it_shows_is_complete_in_few_lines_and_proves_itself(tmp_path, monkeypatch):
    page, source, entry = block("text", "square"), block("cpp", "square"), block("python", "SQUARE")
    assert len(page.splitlines()) + len(source.splitlines()) + len(entry.splitlines()) <= 48
    for module in (spec, registry):
        monkeypatch.setattr(module, "KERNELS", tmp_path)
    names: dict = {}
    exec(entry, names)
    folder = tmp_path / "04_first_kernels" / "exercises"
    folder.mkdir(parents=True)
    (folder / "square.md").write_text(page)
    (folder / "square.cu").write_text(source)
    exercise = registry.complete(names["SQUARE"], "square", "04_first_kernels/01_hello_threads")
    assert (exercise.id, exercise.kernel) == ("04.square", "square")
    found = list(proofs(exercise))
    assert len(found) == 5
    for proof in found:
        assert proof.holds, f"{proof.text}: {proof.detail}"
