"""In a pod: which configuration is chosen, and what its service account's files mean."""

from pathlib import Path

import pytest

from setpoint.client import ConfigError, in_cluster, in_cluster_config, load_config

POD = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}
KUBECONFIG = """
current-context: lab
contexts: [{name: lab, context: {cluster: lab}}]
clusters: [{name: lab, cluster: {server: "https://lab:6443"}}]
"""


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a service account, where the kubelet puts them."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text("pods-own\n")
    (folder / "ca.crt").write_bytes(b"CA")
    (folder / "namespace").write_text("shop\n")
    monkeypatch.setattr(in_cluster, "SERVICE_ACCOUNT", str(folder))
    return folder


def test_the_service_accounts_files_say_who_asks_and_where(account: Path) -> None:
    config = in_cluster_config(env=POD)
    assert (config.server, config.namespace, config.ca_data) == ("https://10.96.0.1:443", "shop", b"CA")
    assert (config.token_file, config.ca_file) == (str(account / "token"), str(account / "ca.crt"))
    assert config.title == "the service account of this pod"
    assert in_cluster_config(env={**POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}).server == "https://[fd00::1]:443"
    (account / "namespace").unlink()
    assert in_cluster_config(env=POD).namespace == "default"


def test_a_kubeconfig_comes_before_the_pods_own(account: Path, tmp_path: Path) -> None:
    home = {**POD, "HOME": str(tmp_path)}
    assert load_config(env=home).server == "https://10.96.0.1:443"
    (tmp_path / "config").write_text(KUBECONFIG)
    assert load_config(env={**home, "KUBECONFIG": str(tmp_path / "config")}).context == "lab"
    assert load_config(str(tmp_path / "config"), env=home).context == "lab"
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(" \n")
    assert load_config(env=home).server == "https://10.96.0.1:443"
    (tmp_path / ".kube" / "config").write_text(KUBECONFIG)
    assert load_config(env=home).context == "lab"


def test_a_kubeconfig_that_was_asked_for_is_not_passed_over_in_a_pod(account: Path, tmp_path: Path) -> None:
    for env, path, context in (({"KUBECONFIG": str(tmp_path / "gone")}, None, None), ({}, str(tmp_path / "gone"), None), ({}, None, "lab")):
        with pytest.raises(ConfigError, match="there is no kubeconfig at"):
            load_config(path, context, env={**POD, "HOME": str(tmp_path), **env})


def test_what_a_pod_lacks_is_said(account: Path) -> None:
    with pytest.raises(ConfigError, match="this runs in no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set"):
        in_cluster_config(env={})
    (account / "ca.crt").unlink()
    with pytest.raises(ConfigError, match=r"this pod's .*/ca.crt cannot be read: No such file"):
        in_cluster_config(env=POD)
    (account / "token").unlink()
    with pytest.raises(
        ConfigError, match=r"without the token of a service account: there is no .*/token; set automountServiceAccountToken"
    ):
        in_cluster_config(env=POD)
