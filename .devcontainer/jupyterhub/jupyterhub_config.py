"""A JupyterHub for a class: a container per student, whose home stays on the host.

``students.txt``, beside this file, has a name per line. They are accounts of the host, or whatever
your authenticator knows. STUDENTS is the folder of their homes.
"""

import os
from pathlib import Path

STUDENTS = Path(os.environ.get("STUDENTS", "/srv/students"))
HOME, STUDENT = "/home/student", 1000  # in the image
CLASS = Path(__file__).with_name("students.txt")


def make_home(spawner):
    """A home that the container's user can write to: Docker would make it root's."""
    home = STUDENTS / spawner.user.name
    home.mkdir(parents=True, exist_ok=True)
    os.chown(home, STUDENT, STUDENT)


c = get_config()  # noqa: F821  (JupyterHub puts it there)
c.JupyterHub.spawner_class = "dockerspawner.DockerSpawner"
c.JupyterHub.hub_ip = os.environ.get("HUB_IP", "172.17.0.1")  # of the host, as containers see it
c.Authenticator.allowed_users = set(CLASS.read_text(encoding="utf-8").split())
c.Spawner.pre_spawn_hook = make_home
c.DockerSpawner.image = "cuda-course"
c.DockerSpawner.volumes = {str(STUDENTS / "{username}"): HOME}
c.DockerSpawner.notebook_dir = HOME
c.DockerSpawner.remove = True  # the container, not the home
c.Spawner.default_url = "/lab"
c.Spawner.mem_limit = "4G"
c.Spawner.cpu_limit = 2
