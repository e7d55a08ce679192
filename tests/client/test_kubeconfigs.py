"""Kubeconfigs of every form: each means what it means to kubectl, or is refused in one sentence."""

import base64
import dataclasses
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from setpoint.client import Config, ConfigError, load_config
from setpoint.objects.yaml_text import documents

from .corpus import CASES, Corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("kubeconfigs"))


def loaded(corpus: Corpus, case: str) -> Config:
    return load_config(env={"KUBECONFIG": os.pathsep.join(map(str, corpus.files(case))), "HOME": str(corpus.folder)})


def kubectl() -> Path | None:
    """The one of KUBEBUILDER_ASSETS, of the cache that tests download into, or on PATH."""
    assets = [os.environ["KUBEBUILDER_ASSETS"]] if os.environ.get("KUBEBUILDER_ASSETS") else []
    cached = sorted(Path("~/.cache/setpoint-envtest").expanduser().glob("*/kubectl"))
    found = [*(Path(folder) / "kubectl" for folder in assets), *cached]
    on_path = shutil.which("kubectl")
    return next((path for path in found if path.exists()), None) or (Path(on_path) if on_path else None)


@pytest.mark.parametrize("case", CASES)
def test_a_kubeconfig_means_what_it_means_to_kubectl_or_is_refused_in_one_sentence(case: str, corpus: Corpus) -> None:
    if (refusal := corpus.refusal(case)) is not None:
        with pytest.raises(ConfigError) as caught:
            loaded(corpus, case)
        assert str(caught.value) == refusal
    else:
        assert facts(loaded(corpus, case)) == meant(corpus.recorded(case), corpus.files(case))


@pytest.mark.kubectl
@pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("refused")])
def test_kubectl_still_says_what_was_recorded(case: str, corpus: Corpus) -> None:
    program = kubectl()
    if program is None:
        pytest.skip("no kubectl")
    assert meant(corpus.asked(case, program), corpus.files(case)) == meant(corpus.recorded(case), corpus.files(case))


def facts(config: Config) -> dict[str, Any]:
    """A configuration, whole, except for the place that it came from."""
    return {name: value for name, value in dataclasses.asdict(config).items() if name != "source"}


def meant(said: dict[str, Any], files: list[Path]) -> dict[str, Any]:
    """What kubectl says, as the fields of a configuration. Paths that it says are relative to the file that an entry is from."""
    (context,) = said["contexts"]
    (cluster,) = said["clusters"]
    user = said["users"][0] if said["users"] else {"name": "", "user": {}}
    return {
        "context": said["current-context"],
        "cluster": cluster["name"],
        "user": user["name"],
        "namespace": context["context"].get("namespace", "default"),
        **of_cluster(cluster["cluster"], origin("clusters", cluster["name"], files)),
        **of_user(user["user"], origin("users", user["name"], files), cluster["cluster"]),
    }


def of_cluster(cluster: dict[str, Any], folder: Path) -> dict[str, Any]:
    ca, ca_file = content("certificate-authority", cluster, folder)
    return {
        "server": cluster["server"],
        "ca_data": ca,
        "ca_file": ca_file,
        "insecure": cluster.get("insecure-skip-tls-verify", False),
        "tls_server_name": cluster.get("tls-server-name"),
        "disable_compression": cluster.get("disable-compression", False),
        "proxy_url": cluster.get("proxy-url"),
    }


def of_user(user: dict[str, Any], folder: Path, cluster: dict[str, Any]) -> dict[str, Any]:
    certificate, certificate_file = content("client-certificate", user, folder)
    key, key_file = content("client-key", user, folder)
    return {
        "client_certificate": certificate,
        "client_certificate_file": certificate_file,
        "client_key": key,
        "client_key_file": key_file,
        "token": user.get("token"),
        "token_file": placed(user.get("tokenFile"), folder),
        "username": user.get("username"),
        "password": user.get("password"),
        "exec": of_program(user["exec"], folder, cluster) if "exec" in user else None,
        "impersonate_user": user.get("as"),
        "impersonate_uid": user.get("as-uid"),
        "impersonate_groups": tuple(user.get("as-groups", ())),
        "impersonate_extra": tuple((name, tuple(values)) for name, values in user.get("as-user-extra", {}).items()),
    }


def of_program(program: dict[str, Any], folder: Path, cluster: dict[str, Any]) -> dict[str, Any]:
    extensions = {item["name"]: item["extension"] for item in cluster.get("extensions") or ()}
    command = program["command"]
    return {
        "command": placed(command, folder) if "/" in command else command,
        "api_version": program["apiVersion"],
        "args": tuple(program["args"] or ()),
        "env": tuple((item["name"], item["value"]) for item in program["env"] or ()),
        "install_hint": program.get("installHint", "").strip(),
        "provide_cluster_info": program["provideClusterInfo"],
        "interactive_mode": program["interactiveMode"],
        "cluster_config": extensions.get("client.authentication.k8s.io/exec"),
    }


def content(what: str, entry: dict[str, Any], folder: Path) -> tuple[bytes | None, str | None]:
    if (data := entry.get(f"{what}-data")) is not None:
        return base64.b64decode(data), None
    path = placed(entry.get(what), folder)
    return (None, None) if path is None else (Path(path).read_bytes(), path)


def placed(path: str | None, folder: Path) -> str | None:
    return None if path is None else os.path.normpath(folder / path)


def origin(section: str, name: str, files: list[Path]) -> Path:
    """The folder of the first file that has such an entry."""
    for file in files:
        said = (documents(file.read_text()) or [None])[0] or {} if file.exists() else {}
        if any(entry["name"] == name for entry in said.get(section) or ()):
            return file.parent
    return files[0].parent
