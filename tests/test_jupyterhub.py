"""The recipe for a JupyterHub: its configuration, its image, and the link in TEACHING.md."""

import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, unquote, urlsplit

from traitlets.config import Config

from course_utils.paths import ROOT

FOLDER = ROOT / ".devcontainer/jupyterhub"
TEACHING = ROOT / "course_utils/exercises/student/TEACHING.md"


def configuration(monkeypatch, students: Path) -> Config:
    monkeypatch.setenv("STUDENTS", str(students))
    monkeypatch.delenv("HUB_IP", raising=False)
    config = Config()
    file = FOLDER / "jupyterhub_config.py"
    names = {"get_config": lambda: config, "__file__": str(file)}
    exec(compile(file.read_text(encoding="utf-8"), file, "exec"), names)
    return config


def test_each_student_of_the_list_gets_a_home_on_the_host(monkeypatch, tmp_path):
    config = configuration(monkeypatch, tmp_path / "students")
    assert config.Authenticator.allowed_users == {"ana", "ben", "cleo"}
    assert config.DockerSpawner.volumes == {f"{tmp_path}/students/{{username}}": "/home/student"}
    owned = []
    monkeypatch.setattr("os.chown", lambda *what: owned.append(what))
    for _ in range(2):
        config.Spawner.pre_spawn_hook(SimpleNamespace(user=SimpleNamespace(name="ana")))
    assert owned == 2 * [(tmp_path / "students/ana", 1000, 1000)]


def test_the_image_has_the_home_and_the_user_of_the_configuration(monkeypatch, tmp_path):
    image = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    config = configuration(monkeypatch, tmp_path)
    assert f"PYTHONPATH={config.DockerSpawner.notebook_dir}/course" in image
    assert "--uid 1000 student" in image and "USER student" in image
    for path in re.findall(r"/opt/course/([\w./]+)", image):
        assert path.startswith(".venv") or (ROOT / path).exists(), path
    said = TEACHING.read_text(encoding="utf-8")
    builds = re.findall(r"docker build -t \S+(?: -f \S+)? \S+", image)
    assert len(builds) == 2 and all(build in said for build in builds)


def test_the_link_opens_a_notebook_of_the_folder_that_it_makes():
    (link,) = re.findall(r"https://hub\.example\.org/\S+", TEACHING.read_text(encoding="utf-8"))
    parts = urlsplit(link)
    assert parts.path == "/hub/user-redirect/git-pull"
    asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
    assert asked["repo"] == "https://example.org/course.git" and asked["branch"] == "main"
    place, _, option = unquote(asked["urlpath"]).partition("?")
    app, folder, notebook = re.fullmatch(r"(lab/tree)/(\w+)/(.+)", place).groups()
    assert (app, option) == ("lab/tree", "autodecode") and folder == asked["targetPath"]
    assert (ROOT / notebook).is_file()
