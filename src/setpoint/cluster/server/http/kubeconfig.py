"""A kubeconfig of the server's own, for kubectl and any other client. The user's own one is never touched.

https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

from setpoint.world.files import replace_file

_MARK = "# Written by setpoint at each start; it is overwritten without asking.\n"


def kubeconfig_text(url: str, ca_pem: bytes, token: str, *, context: str = "setpoint", namespace: str = "default") -> str:
    """The file's text: one cluster, one user, one context, all of that name."""
    name, server, secret, place = map(json.dumps, (context, url, token, namespace))
    return f"""\
apiVersion: v1
kind: Config
clusters:
- name: {name}
  cluster:
    server: {server}
    certificate-authority-data: {base64.b64encode(ca_pem).decode()}
users:
- name: {name}
  user:
    token: {secret}
contexts:
- name: {name}
  context:
    cluster: {name}
    user: {name}
    namespace: {place}
current-context: {name}
"""


def write_kubeconfig(
    path: str | os.PathLike[str], url: str, ca_pem: bytes, token: str, *, context: str = "setpoint", namespace: str = "default"
) -> Path:
    """Writes such a file, readable by the user alone, and returns its absolute path. Makes the folders that lead to it.

    Whoever reads sees the old file or the new one, never half of one. Raises `FileExistsError` where a file that is the user's own is in
    the place (see `is_ours`), and `OSError` when the file cannot be written.
    """
    target = Path(path).absolute()
    if target.exists() and not is_ours(target):
        raise FileExistsError(f"{target} is not a kubeconfig of setpoint's, so it is left as it is; choose another file")
    target.parent.mkdir(parents=True, exist_ok=True)
    text = _MARK + kubeconfig_text(url, ca_pem, token, context=context, namespace=namespace)
    replace_file(target, [text.encode()])
    return target


def is_ours(path: Path) -> bool:
    """Whether a file was written here: only such a one may be overwritten. An empty file may be, too."""
    if not path.is_file():
        return False
    content = path.read_text(encoding="utf-8", errors="replace")
    return not content.strip() or content.startswith(_MARK)
