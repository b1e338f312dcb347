"""A file is written whole or stays as it was, and a damaged one says how to restore it."""

import os
import re
import stat

import pytest

from course_utils import whole_files
from course_utils.errors import LessonError
from course_utils.records import measured_files
from course_utils.whole_files import read_json, write_whole


def test_a_file_is_written_with_its_folders_and_its_own_line_ends(tmp_path):
    write_whole(tmp_path / "new" / "file.txt", "é\n\r\n")
    assert (tmp_path / "new" / "file.txt").read_bytes() == "é\n\r\n".encode()


def test_a_write_that_fails_leaves_the_old_text_and_nothing_else(tmp_path, monkeypatch):
    file = tmp_path / "file.txt"
    file.write_text("old")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(whole_files.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(file, "new")
    assert os.listdir(tmp_path) == ["file.txt"] and file.read_text() == "old"


def test_a_file_keeps_its_mode_and_a_link_stays_one(tmp_path):
    file, link = tmp_path / "file.sh", tmp_path / "link.sh"
    file.write_text("old")
    file.chmod(0o750)
    link.symlink_to(file)
    write_whole(link, "new")
    assert link.is_symlink() and file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750


def test_a_new_file_gets_the_mode_of_any_other(tmp_path):
    write_whole(tmp_path / "ours", "")
    (tmp_path / "theirs").write_text("")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "theirs").stat().st_mode


@pytest.mark.parametrize("text", ["", '{"a": 1', "\ufeff{}"])
def test_a_damaged_file_names_the_command_that_restores_it(tmp_path, text):
    file = tmp_path / "figures.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LessonError, match=re.escape(f"git checkout -- {file}")):
        read_json(file)


def test_damaged_measurements_are_an_error_that_a_reader_understands(tmp_path, monkeypatch):
    monkeypatch.setattr(measured_files, "BENCHMARKS", tmp_path)
    file = measured_files.write("speed", {"device": "NVIDIA H200", "records": []})
    file.write_text(file.read_text()[:10])
    with pytest.raises(LessonError, match="is damaged"):
        measured_files.measurements("speed", "NVIDIA H200")
