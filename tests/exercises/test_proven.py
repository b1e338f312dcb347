"""A notebook's exercises count as proved as long as nothing changes that a proof depends on."""

import json
import shutil

import pytest

from course_utils.exercises import kinds, proven
from course_utils.exercises.registry import find
from course_utils.exercises.verify import Proof
from course_utils.paths import ROOT

NOTEBOOK = "04_first_kernels/06_reductions"
A_PROOF = Proof("04.argmax_rows", "solution", "pass", "pass", "", 0.1)


@pytest.fixture
def course(tmp_path):
    """A copy of what the proofs of one notebook depend on, and of some that they do not."""
    for folder in ("course_utils", "kernels/common", "kernels/04_first_kernels"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for chapter in ("04_first_kernels", "05_cuda_libraries"):
        place = f"chapters/{chapter}/exercises"
        shutil.copytree(ROOT / place, tmp_path / place)
    philox = "kernels/07_pytorch_extensions/philox.py"
    (tmp_path / philox).parent.mkdir()
    shutil.copy(ROOT / philox, tmp_path / philox)
    return tmp_path


def hash_of(notebook, root):
    proven.proof_hash.cache_clear()
    proven._of_judge.cache_clear()
    try:
        return proven.proof_hash(notebook, root)
    finally:
        proven.proof_hash.cache_clear()
        proven._of_judge.cache_clear()


def test_the_hash_is_that_of_the_course(course):
    assert hash_of(NOTEBOOK, course) == proven.proof_hash(NOTEBOOK)


@pytest.mark.parametrize(
    "file",
    [
        "chapters/04_first_kernels/exercises/06_reductions.py",
        "chapters/04_first_kernels/exercises/common.py",
        "course_utils/benchmarks/simulated_gpu.py",
        "course_utils/checking/verdict.py",
        "course_utils/compiling/standard_headers/cstdint",
        "course_utils/emulator/instructions/wgmma.py",
        "course_utils/exercises/trials.py",
        "kernels/04_first_kernels/exercises/argmax_rows.cu",
        "kernels/common/cluster_mbarrier.cuh",
    ],
)
def test_a_change_of_what_a_proof_reads_changes_the_hash(course, file):
    before = hash_of(NOTEBOOK, course)
    path = course / file
    path.write_text(path.read_text() + "\n")
    assert hash_of(NOTEBOOK, course) != before


@pytest.mark.parametrize(
    "file",
    [
        "chapters/04_first_kernels/exercises/08_profiling_and_debugging.py",
        "course_utils/emulator/README.md",
        "course_utils/figures/style.py",
    ],
)
def test_a_change_of_other_files_does_not(course, file):
    before = hash_of(NOTEBOOK, course)
    path = course / file
    assert path.exists()
    path.write_text(path.read_text() + "\n")
    assert hash_of(NOTEBOOK, course) == before


def test_a_kernel_of_another_chapter_that_a_spec_names_counts(course):
    before = hash_of("05_cuda_libraries/02_curand", course)
    philox = course / "kernels/07_pytorch_extensions/philox.py"
    philox.write_text(philox.read_text() + "\n")
    assert hash_of("05_cuda_libraries/02_curand", course) != before


def test_ends_of_lines_do_not_count(course):
    before = hash_of(NOTEBOOK, course)
    spec = course / "chapters/04_first_kernels/exercises/06_reductions.py"
    spec.write_bytes(spec.read_bytes().replace(b"\n", b"\r\n"))
    assert hash_of(NOTEBOOK, course) == before


def test_only_notebooks_whose_proofs_all_held_here_are_noted(tmp_path):
    store = tmp_path / "proven.json"
    exercise = find(A_PROOF.exercise_id)
    assert not proven.is_proven(exercise, store)
    proven.note([A_PROOF], store)
    assert proven.is_proven(exercise, store)
    for got in ("wrong result", kinds.NO_COMPILER):
        bad = Proof(A_PROOF.exercise_id, "a mutant", "pass", got, "", 0.1)
        proven.note([A_PROOF, bad, A_PROOF], store)
        assert not proven.is_proven(exercise, store)


def test_another_hash_is_no_proof_and_notebooks_that_are_gone_are_forgotten(tmp_path):
    store = tmp_path / "proven.json"
    exercise = find(A_PROOF.exercise_id)
    store.write_text(json.dumps({exercise.notebook: "0" * 16, "04_first_kernels/99_gone": "1"}))
    assert not proven.is_proven(exercise, store)
    proven.note([], store)
    assert list(proven.stored(store)) == [exercise.notebook]
