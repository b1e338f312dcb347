"""A notebook's exercises count as proved as long as nothing changes that a proof depends on."""

import json
import re
import shutil

import pytest

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import all_exercises
from course_utils.exercises.judging import verification_cache
from course_utils.exercises.judging.verify import Proof
from course_utils.paths import CHAPTERS, ROOT

NOTEBOOK = "04_first_kernels/06_reductions"
CODE = {".py": "more = 1\n"}
EXERCISES = [exercise for exercise in all_exercises() if exercise.notebook == NOTEBOOK]
PROOFS = [Proof(exercise.id, "solution", "pass", "pass", "", 0.1) for exercise in EXERCISES]


@pytest.fixture
def course(tmp_path):
    """A copy of what the proofs of one notebook depend on, and of some that they do not."""
    sgemm = "kernels/06_matmul_and_fft/sgemm"  # two of its kernels are included by others
    for folder in ("course_utils", "kernels/common", "kernels/04_first_kernels", sgemm):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for chapter in ("04_first_kernels", "05_cuda_libraries"):
        place = f"chapters/{chapter}/exercises"
        shutil.copytree(ROOT / place, tmp_path / place)
    philox = "kernels/07_pytorch_extensions/philox.py"
    (tmp_path / philox).parent.mkdir()
    shutil.copy(ROOT / philox, tmp_path / philox)
    return tmp_path


def hash_of(notebook, root):
    caches = (
        verification_cache.proof_hash,
        verification_cache._of_judge,
        verification_cache._kernels_of,
    )
    try:
        return verification_cache.proof_hash(notebook, root)
    finally:
        for each in caches:
            each.cache_clear()


def test_the_hash_is_that_of_the_course(course):
    assert hash_of(NOTEBOOK, course) == verification_cache.proof_hash(NOTEBOOK)


@pytest.mark.parametrize(
    "file",
    [
        "chapters/04_first_kernels/exercises/06_reductions.py",
        "chapters/04_first_kernels/exercises/common.py",
        "course_utils/benchmarks/harness/simulated_gpu.py",
        "course_utils/checking/verdict.py",
        "course_utils/compiling/standard_headers/cstdint",
        "course_utils/emulator/instructions/wgmma.py",
        "course_utils/exercises/judging/trials.py",
        "kernels/04_first_kernels/exercises/argmax_rows.cu",
        "kernels/common/cluster_mbarrier.cuh",
    ],
)
def test_a_change_of_what_a_proof_reads_changes_the_hash(course, file):
    before = hash_of(NOTEBOOK, course)
    path = course / file
    path.write_text(path.read_text() + CODE.get(path.suffix, "int more;\n"))
    assert hash_of(NOTEBOOK, course) != before


@pytest.mark.parametrize(
    ("file", "comment"),
    [
        ("course_utils/emulator/instructions/wgmma.py", "\n# A comment.\n"),
        ("kernels/04_first_kernels/exercises/argmax_rows.cu", "\n// A comment.\n"),
    ],
)
def test_a_comment_or_a_blank_line_changes_nothing(course, file, comment):
    before = hash_of(NOTEBOOK, course)
    path = course / file
    path.write_text(path.read_text() + comment)
    assert hash_of(NOTEBOOK, course) == before


def test_a_wrong_answer_counts(course, monkeypatch):
    before = hash_of(NOTEBOOK, course)
    fewer = EXERCISES[0].with_fields(mutants=EXERCISES[0].mutants[1:])
    monkeypatch.setattr(verification_cache, "all_exercises", lambda: (fewer, *EXERCISES[1:]))
    assert hash_of(NOTEBOOK, course) != before


@pytest.mark.parametrize(
    "file",
    [
        "chapters/04_first_kernels/exercises/09_profiling.py",
        "course_utils/emulator/README.md",
        "course_utils/figures/style.py",
        "course_utils/install.py",
    ],
)
def test_a_change_of_other_files_does_not(course, file):
    before = hash_of(NOTEBOOK, course)
    path = course / file
    assert path.exists()
    path.write_text(path.read_text() + CODE.get(path.suffix, "int more;\n"))
    assert hash_of(NOTEBOOK, course) == before


def test_a_kernel_of_another_chapter_that_a_spec_names_counts(course):
    before = hash_of("05_cuda_libraries/03_curand", course)
    philox = course / "kernels/07_pytorch_extensions/philox.py"
    philox.write_text(philox.read_text() + CODE[".py"])
    assert hash_of("05_cuda_libraries/03_curand", course) != before


def test_what_a_kernel_includes_counts_wherever_it_lies(course):
    host = course / "kernels/06_matmul_and_fft/host"
    host.mkdir(parents=True)
    (host / "simd.h").write_text('#include "lanes.h"\n')
    (host / "lanes.h").write_text("")
    kernel = course / "kernels/04_first_kernels/exercises/argmax_rows.cu"
    kernel.write_text('#include "../../06_matmul_and_fft/host/simd.h"\n' + kernel.read_text())
    before = hash_of(NOTEBOOK, course)
    (host / "lanes.h").write_text("int more;\n")
    assert hash_of(NOTEBOOK, course) != before


def test_hidden_files_do_not_count(course):
    before = hash_of(NOTEBOOK, course)
    folder = course / "kernels/04_first_kernels/.ipynb_checkpoints"
    folder.mkdir()
    (folder / "argmax_rows-checkpoint.cu").write_text("")
    assert hash_of(NOTEBOOK, course) == before


def test_no_judge_uses_what_the_hash_leaves_out():
    rooms = "|".join(
        room.removesuffix("/").removesuffix(".py") for room in verification_cache.NO_JUDGES
    )
    specs = [file.read_text() for file in CHAPTERS.glob("*/exercises/*.py")]
    used = re.compile(rf"^from course_utils(?:\.| import )((?:{rooms})\b[.\w]*)", re.M)
    allowed = verification_cache.SIMULATED_GPU.removesuffix(".py").replace("/", ".")
    assert {name for text in specs for name in used.findall(text)} == {allowed}
    simulated = (ROOT / "course_utils" / verification_cache.SIMULATED_GPU).read_text()
    assert not re.search(r"^(from|import) (\.|course_utils)", simulated, re.M)
    used = re.compile(rf"^from \.\.\.(?: import )?(?:{rooms})\b", re.M)
    modules = (ROOT / "course_utils/exercises").rglob("*.py")
    users = {file.stem for file in modules if used.search(file.read_text())}
    assert users == {
        "after_pass",
        "class_variants",
        "grading",
        "outcome",
        "path_progress",
        "portfolio",
        "syllabus",
    }  # none of them judges


def test_ends_of_lines_do_not_count(course):
    before = hash_of(NOTEBOOK, course)
    spec = course / "chapters/04_first_kernels/exercises/06_reductions.py"
    spec.write_bytes(spec.read_bytes().replace(b"\n", b"\r\n"))
    assert hash_of(NOTEBOOK, course) == before


def test_only_notebooks_whose_proofs_all_held_here_are_noted(tmp_path):
    store = tmp_path / "proven.json"
    assert not verification_cache.is_verified(EXERCISES[0], store)
    verification_cache.store(PROOFS, store)
    assert verification_cache.is_verified(EXERCISES[0], store)
    for got in ("wrong result", kinds.NO_COMPILER):
        bad = Proof(EXERCISES[0].id, "a mutant", "pass", got, "", 0.1)
        verification_cache.store([*PROOFS, bad, *PROOFS], store)
        assert not verification_cache.is_verified(EXERCISES[0], store)


def test_a_notebook_with_an_exercise_that_was_not_tried_is_not_noted(tmp_path):
    store = tmp_path / "proven.json"
    verification_cache.store(PROOFS[1:], store)
    assert verification_cache.stored(store) == {}


def test_another_hash_is_no_proof_and_notebooks_that_are_gone_are_forgotten(tmp_path):
    store = tmp_path / "proven.json"
    store.write_text(json.dumps({NOTEBOOK: "0" * 16, "04_first_kernels/99_gone": "1"}))
    assert not verification_cache.is_verified(EXERCISES[0], store)
    verification_cache.store([], store)
    assert list(verification_cache.stored(store)) == [NOTEBOOK]
