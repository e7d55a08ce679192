"""The kubeconfig: what it means, and one clear sentence for each way in which it can be wrong."""

import base64
import os

import pytest
import yaml

from setpoint.client import ConfigError, has_default_config, load_config


def kubeconfig(**changes):
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "dev",
        "contexts": [
            {"name": "dev", "context": {"cluster": "dev", "user": "me", "namespace": "mine"}},
            {"name": "prod", "context": {"cluster": "prod", "user": "me"}},
        ],
        "clusters": [
            {"name": "dev", "cluster": {"server": "https://127.0.0.1:6443/", "certificate-authority-data": encoded(b"CA")}},
            {"name": "prod", "cluster": {"server": "https://prod:6443", "tls-server-name": "kubernetes", "insecure-skip-tls-verify": True}},
        ],
        "users": [{"name": "me", "user": {"token": "secret"}}],
    }
    return {**content, **changes}


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.fixture
def write(tmp_path):
    def write(content, name="config"):
        file = tmp_path / name
        file.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return str(file)

    return write


def test_a_context_names_cluster_user_and_namespace(write):
    file = write(kubeconfig())
    config = load_config(file)
    assert (config.context, config.server, config.namespace, config.token) == ("dev", "https://127.0.0.1:6443", "mine", "secret")
    assert config.ca_data == b"CA"
    assert "secret" not in repr(config)
    other = load_config(file, "prod")
    assert (other.server, other.namespace, other.tls_server_name, other.insecure) == ("https://prod:6443", "default", "kubernetes", True)


def test_paths_are_relative_to_the_file(write, tmp_path):
    (tmp_path / "ca.crt").write_bytes(b"CA")
    (tmp_path / "me.crt").write_bytes(b"CERT")
    (tmp_path / "me.key").write_bytes(b"KEY")
    content = kubeconfig(
        clusters=[{"name": "dev", "cluster": {"server": "https://x", "certificate-authority": "ca.crt"}}],
        users=[{"name": "me", "user": {"client-certificate": "me.crt", "client-key": "me.key", "tokenFile": "token"}}],
    )
    config = load_config(write(content))
    assert (config.ca_data, config.client_certificate, config.client_key) == (b"CA", b"CERT", b"KEY")
    assert config.token_file == str(tmp_path / "token")


def test_of_several_files_the_first_to_say_something_counts(write, tmp_path):
    first = write({"current-context": "prod", "users": [{"name": "me", "user": {"token": "first"}}]}, "first")
    second = write(kubeconfig(), "second")
    env = {"KUBECONFIG": os.pathsep.join([str(tmp_path / "missing"), first, second])}
    config = load_config(env=env)
    assert (config.context, config.token) == ("prod", "first")
    assert load_config(second, env=env).context == "dev"


def test_the_default_is_in_the_home_directory(tmp_path):
    env = {"HOME": str(tmp_path)}
    assert not has_default_config(env=env)
    assert has_default_config(env={**env, "KUBECONFIG": "somewhere"})
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(yaml.safe_dump(kubeconfig()))
    assert has_default_config(env=env)
    assert load_config(env=env).context == "dev"


def user(**fields):
    return kubeconfig(users=[{"name": "me", "user": fields}])


def cluster(**fields):
    return kubeconfig(clusters=[{"name": "dev", "cluster": fields}])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["is empty"]),
        ("# only a comment\n", ["is empty"]),
        ("{", ["is not YAML", "line"]),
        ("- a\n", ["should be a mapping"]),
        (kubeconfig(**{"current-context": ""}), ["no current-context", "--context", "'dev', 'prod'"]),
        (kubeconfig(**{"current-context": "gone"}), ["no context 'gone'", "current-context names it", "'dev', 'prod'"]),
        (kubeconfig(clusters=[]), ["no cluster 'dev'", "context 'dev' names it", "there is none"]),
        (kubeconfig(clusters={"a": 1}), ["clusters should be a list"]),
        (kubeconfig(clusters=[{"cluster": {}}]), ["an entry of clusters has no name"]),
        (kubeconfig(users=None), ["no user 'me'"]),
        (kubeconfig(contexts=[{"name": "dev", "context": {}}]), ["names no cluster"]),
        (cluster(), ["server of cluster 'dev'", "https://host:6443"]),
        (cluster(server="127.0.0.1:6443"), ["server of cluster 'dev'", "127.0.0.1:6443"]),
        (cluster(server=["a"]), ["server should be a text"]),
        (cluster(server="https://x", **{"certificate-authority": "gone.crt"}), ["certificate-authority", "gone.crt", "No such file"]),
        (cluster(server="https://x", **{"certificate-authority-data": "%%%"}), ["certificate-authority-data", "not base64"]),
        (user(**{"client-certificate": "gone.crt"}), ["client-certificate of user 'me'", "gone.crt", "No such file"]),
        (user(**{"client-certificate-data": encoded(b"x")}), ["has a client-certificate but no client-key"]),
        (user(exec={"command": "aws-iam"}), ["exec of user 'me' (aws-iam)", "client.authentication.k8s.io/v1beta1", "None"]),
        (user(**{"auth-provider": {"name": "gcp"}}), ["'gcp'", "auth-provider", "not supported"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_is_wrong_is_said_in_one_sentence(write, content, words):
    file = write(content)
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    for word in [*words, file]:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_context_lists_those_that_are_there(write):
    with pytest.raises(ConfigError, match="no context 'x'; there is 'dev', 'prod'"):
        load_config(write(kubeconfig()), "x")


def test_a_file_that_is_missing_or_no_file_is_said(tmp_path):
    with pytest.raises(ConfigError, match=r"there is no kubeconfig at .*gone"):
        load_config(str(tmp_path / "gone"))
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(str(tmp_path))
    with pytest.raises(ConfigError, match="there is no kubeconfig at"):
        load_config(env={"HOME": str(tmp_path)})
    with pytest.raises(ConfigError, match="none of the files in KUBECONFIG exists"):
        load_config(env={"KUBECONFIG": os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")])})
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        load_config(str(tmp_path / "binary"))
