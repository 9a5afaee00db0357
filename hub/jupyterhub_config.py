"""The hub of `make class`: a real one, for students made up for one run.

Everything that differs from run to run (ports, names, passwords, folders)
comes from the JSON file that CLASS_SETTINGS names, written by
tools/class_room.py. A real course takes its values from kubernetes.yaml or
littlest.yaml instead.
"""

import hmac
import json
import os
from pathlib import Path

from jupyterhub.auth import Authenticator
from jupyterhub.spawner import LocalProcessSpawner, SimpleLocalProcessSpawner

settings = json.loads(Path(os.environ["CLASS_SETTINGS"]).read_text("utf-8"))


class ClassAuthenticator(Authenticator):
    """Lets in the students of this run, each by a password of its own."""

    async def authenticate(self, handler, data):
        """Return the student's name if the password is hers, else None."""
        right = settings["passwords"].get(data["username"])
        given = data["password"]
        if right is None or not hmac.compare_digest(
            right.encode(), given.encode()
        ):
            return None
        return data["username"]


def book_folder(spawner):
    """Where nbgitpuller puts the student's copy: its `utils` is imported."""
    home = settings["homes"][spawner.user.name]
    return str(Path(home, settings["folder"]))


c = get_config()  # noqa: F821  (JupyterHub gives it to this file)

c.JupyterHub.bind_url = settings["url"]
c.JupyterHub.hub_bind_url = settings["hub_url"]
c.ConfigurableHTTPProxy.command = settings["proxy"]
c.ConfigurableHTTPProxy.api_url = settings["proxy_api_url"]
c.ConfigurableHTTPProxy.pid_file = settings["proxy_pid_file"]
c.JupyterHub.db_url = settings["database"]
c.JupyterHub.cookie_secret_file = settings["cookie_secret_file"]

c.JupyterHub.authenticator_class = ClassAuthenticator
c.Authenticator.allowed_users = set(settings["passwords"])

# As root each student is a user of the system, and the system keeps them
# apart; without root all servers belong to whoever started the hub.
if settings["system_users"]:
    c.JupyterHub.spawner_class = LocalProcessSpawner
else:
    c.JupyterHub.spawner_class = SimpleLocalProcessSpawner
    c.SimpleLocalProcessSpawner.home_dir_template = (
        settings["homes_folder"] + "/{username}"
    )

c.Spawner.cmd = [settings["python"], "-m", "jupyterhub.singleuser"]
c.Spawner.args = settings["server_arguments"]
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = 300  # a whole class starts on few cores
c.Spawner.http_timeout = 300
c.Spawner.env_keep = ["LANG", "LC_ALL", "TZ"]
c.Spawner.environment = settings["environment"] | {"PYTHONPATH": book_folder}
