"""The last run of every test and notebook on a GPU in which nothing failed.

No machine of continuous integration has a GPU, so ``make test-gpu`` writes down its counts::

    python -m course_utils.gpu_run COMMIT TESTS.xml NOTEBOOKS.xml

``doctor`` shows the record, and how many commits have been made since.
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from .devices.properties import description, need_gpu
from .errors import LessonError
from .paths import ROOT
from .whole_files import read_json

FILE = ROOT / "tests" / "gpu_run.json"
TESTED = ("assets", "chapters", "course_utils", "kernels", "tests")


def counts(report: Path) -> dict[str, int]:
    """How many tests of pytest's JUnit ``report`` passed and were skipped.

    Raises LessonError if one failed, none passed, or the run ended before its report: that is no
    run to write down.
    """
    if not report.is_file():
        raise LessonError(f"{report} is missing: the run didn't end. Nothing is recorded.")
    suites = ElementTree.parse(report).getroot().iter("testsuite")
    total = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in suites:
        for name in total:
            total[name] += int(suite.get(name, 0))
    failed = total["failures"] + total["errors"]
    passed = total["tests"] - failed - total["skipped"]
    if failed or not passed:
        raise LessonError(f"{report.name}: {failed} failed, {passed} passed. Nothing is recorded.")
    return {"passed": passed, "skipped": total["skipped"]}


def write(commit: str, tests: Path, notebooks: Path) -> None:
    """Record a run of ``commit`` with its two reports, on the GPU at hand.

    Raises LessonError where there is no GPU, no commit, files that differ from it, or a failure.
    """
    need_gpu()
    if not commit:
        raise LessonError("Say which commit was tested: make test-gpu COMMIT=HASH.")
    if changed := _changed(commit):
        files = f"{len(changed)} files differ from the commit, such as {changed[0]}"
        raise LessonError(f"Nothing is recorded: {files}.")
    record: dict[str, Any] = {"commit": commit, "date": datetime.date.today().isoformat()}
    record |= description() | {"tests": counts(tests), "notebooks": counts(notebooks)}
    FILE.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(summary(record))


def last() -> dict[str, Any] | None:
    """The record, None where there is none."""
    return read_json(FILE) if FILE.is_file() else None


def summary(record: dict[str, Any]) -> str:
    """A line on ``record``: its counts, GPU and date, and how many commits ago."""
    passed = f"{record['tests']['passed']:,} tests and {record['notebooks']['passed']:,} cells"
    ago = _commits_since(record["commit"])
    when = f"{record['date']}, commit {record['commit'][:8]}"
    if ago is not None:
        when += f", {ago} commit{'' if ago == 1 else 's'} ago"
    return f"{passed} passed on one {record['device']} ({when})"


def _commits_since(commit: str) -> int | None:
    """None where git doesn't know, as in a copy of the folder without its history."""
    count = _git("rev-list", "--count", f"{commit}..HEAD")
    return int(count) if count else None


def _changed(commit: str) -> list[str]:
    """The files of tests that are not as in ``commit``, none where git doesn't know it."""
    return _git("diff", "--name-only", commit, "--", *TESTED).splitlines()


def _git(*command: str) -> str:
    """The output of git, "" where it is missing or fails."""
    try:
        asked = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return asked.stdout if asked.returncode == 0 else ""


def main(arguments: list[str]) -> int:
    """Write the record, or say why not. Returns the exit status."""
    commit, tests, notebooks = arguments
    try:
        write(commit, Path(tests), Path(notebooks))
    except LessonError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
