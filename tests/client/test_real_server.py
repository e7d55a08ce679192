"""The client's further verbs, and a program that gives its credentials, on a real kube-apiserver."""

import asyncio
import base64
import json
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from setpoint.client import Client, Config, Connection, HttpTransport, connect, errors, load_config
from setpoint.k8s.apps.v1 import Deployment
from setpoint.k8s.core.v1 import ConfigMap, Pod
from setpoint.world import real_world

pytestmark = pytest.mark.envtest
NAMESPACE = "further-verbs"
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}}


def on(kubeconfig: Path, act):
    async def main():
        world = real_world()
        connection = Connection(HttpTransport(load_config(str(kubeconfig)), world), world)
        try:
            client = Client(connection, namespace=NAMESPACE)
            await client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
            return await act(client)
        finally:
            await connection.close()
            await world.threads.close()

    return asyncio.run(main())


def manifest(kind: str, name: str, **content):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, **content}


def test_patches_of_every_type_are_taken(control_plane: Path) -> None:
    async def act(client: Client):
        await client.apply({**manifest("Pod", "patched", spec=TEMPLATE["spec"])})
        image = {"spec": {"containers": [{"name": "web", "image": "two"}]}}
        pod = await client.patch(Pod, "patched", image, type="strategic")
        assert (pod.spec.containers[0].image, len(pod.spec.containers)) == ("two", 1)
        change = [{"op": "replace", "path": "/spec/containers/0/image", "value": "three"}]
        assert (await client.patch(Pod, "patched", change)).spec.containers[0].image == "three"
        labels = {"metadata": {"labels": {"a": "b"}}}
        assert (await client.patch(Pod, "patched", labels)).metadata.labels == {"a": "b"}
        applied = await client.bound(field_manager="other").patch(Pod, "patched", manifest("Pod", "patched", **image), type="apply")
        assert applied.spec.containers[0].image == "two"
        return applied.metadata.labels

    assert on(control_plane, act) == {"a": "b"}


def test_trials_collections_and_unknown_fields(control_plane: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def act(client: Client):
        trial = client.bound(dry_run=True)
        for name in ("a", "b"):
            await client.apply(manifest("ConfigMap", name, data={"k": name}))
        await trial.delete(ConfigMap, "a")
        await trial.delete_collection(ConfigMap)
        assert (await trial.patch(ConfigMap, "a", {"data": {"k": "tried"}})).data == {"k": "tried"}
        assert (await client.get(ConfigMap, "a")).data == {"k": "a"}
        with pytest.raises(errors.ApiError, match='unknown field "dada"'):
            await client.bound(field_validation="Strict").patch(ConfigMap, "a", {"dada": {}})
        await client.bound(field_validation="Warn").patch(ConfigMap, "a", {"dada": {}})
        await client.delete_collection(ConfigMap, fields="metadata.name!=kube-root-ca.crt")
        return await client.get(ConfigMap, "a"), await client.get(ConfigMap, "b")

    assert on(control_plane, act) == (None, None)
    assert 'unknown field "dada"' in caplog.text


def test_scale_eviction_and_logs(control_plane: Path) -> None:
    async def act(client: Client):
        selector = {"matchLabels": {"app": "web"}}
        spec = {"replicas": 0, "selector": selector, "template": TEMPLATE}
        await client.apply({**manifest("Deployment", "web", spec=spec), "apiVersion": "apps/v1"})
        assert await client.get_scale(Deployment, "web") == (0, 0, "app=web")
        assert (await client.set_scale(Deployment, "web", 1)).replicas == 1
        await client.set_scale(Deployment, "web", 0)
        await client.apply(manifest("Pod", "evicted", spec=TEMPLATE["spec"]))
        assert [line async for line in client.logs("evicted", follow=True)] == []  # it runs nowhere, so it has said nothing
        pod = await client.get(Pod, "evicted")
        await client.evict(pod)
        with pytest.raises(errors.NotFound):
            await client.evict(pod)
        return await client.get(Pod, "evicted")

    assert on(control_plane, act) is None


def test_a_program_may_give_what_the_kubeconfig_held(control_plane: Path, tmp_path: Path) -> None:
    content = yaml.safe_load(control_plane.read_text())
    user = content["users"][0]["user"]
    config = load_config(str(control_plane))
    status = {"token": config.token} if config.token else {}
    if config.client_certificate and config.client_key:
        status |= {"clientCertificateData": config.client_certificate.decode(), "clientKeyData": config.client_key.decode()}
    credential = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": status}
    (tmp_path / "printed").write_text(json.dumps(credential))
    user.clear()
    user["exec"] = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "cat",
        "args": [str(tmp_path / "printed")],
        "interactiveMode": "Never",
    }
    (tmp_path / "config").write_text(yaml.safe_dump(content))

    async def act(client: Client):
        return await client.list(ConfigMap, namespace="kube-system", limit=1)

    assert on(tmp_path / "config", act)


def test_programs_and_ports_of_a_pod_on_no_node_are_refused_as_the_server_says(control_plane: Path) -> None:
    async def act(client: Client):
        await client.apply(manifest("Pod", "unscheduled", spec=TEMPLATE["spec"]))
        said = []
        for attempt in (
            client.exec("unscheduled", ["sh", "-c", "exit 3"]),
            client.attach("unscheduled", stdin=True),
            client.port_forward("unscheduled", 80),
        ):
            with pytest.raises(errors.ApiError) as refused:
                async with attempt:
                    pass
            said.append((refused.value.code, refused.value.message))
        with pytest.raises(errors.NotFound, match='pods "gone" not found'):
            async with client.exec("gone", ["true"]):
                pass
        await client.delete(Pod, "unscheduled", grace_seconds=0)
        await client.wait_gone(Pod, "unscheduled", timeout=30)
        return said

    for code, message in on(control_plane, act):
        assert (code, message) == (400, "pod unscheduled does not have a host assigned")


def test_a_token_that_was_asked_for_is_of_that_service_account(control_plane: Path) -> None:
    async def act(client: Client):
        await client.apply(manifest("ServiceAccount", "robot"))
        await client.apply(manifest("Pod", "bound", spec={**TEMPLATE["spec"], "serviceAccountName": "robot"}))
        token = await client.request_token("robot", seconds=600)
        bound = await client.request_token("robot", audiences=["https://vault"], bound_to=await client.get(Pod, "bound"))
        with pytest.raises(errors.NotFound):
            await client.request_token("nobody")
        server = client.connection._transport.config
        config = Config(server=server.server, ca_data=server.ca_data, token=token.token)
        async with connect(config=config, namespace=NAMESPACE) as other:
            with pytest.raises(errors.Forbidden, match=f"system:serviceaccount:{NAMESPACE}:robot"):
                await other.list(ConfigMap)
        async with connect(config=replace(config, token=bound.token)) as other:
            with pytest.raises(errors.Unauthorized):  # it is for somebody else
                await other.list(ConfigMap)
        return (token.expires - client.connection.world.clock.now()).total_seconds(), json.loads(_payload(bound.token))

    seconds, claims = on(control_plane, act)
    assert 500 < seconds <= 600
    assert claims["aud"] == ["https://vault"]
    assert claims["kubernetes.io"]["pod"]["name"] == "bound"


def _payload(token: str) -> bytes:
    part = token.split(".")[1]
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def test_watches_waits_and_edits(control_plane: Path) -> None:
    async def act(client: Client):
        await client.apply(manifest("ConfigMap", "followed", data={"n": "0"}))

        def count(obj: ConfigMap) -> None:
            obj.data["n"] = str(int(obj.data["n"]) + 1)

        waiting = asyncio.create_task(client.wait(ConfigMap, "followed", lambda obj: obj.data["n"] == "4", timeout=30))
        async with aclosing(client.watch(ConfigMap, namespace=NAMESPACE, fields="metadata.name=followed")) as seen:
            first = await anext(seen)
            await asyncio.gather(*[client.edit(ConfigMap, "followed", count) for _ in range(4)])
            assert (await waiting).data == {"n": "4"}
            values = [first.obj.data["n"] if first.obj else ""]
            while values[-1] != "4":
                found = (await anext(seen)).obj
                values.append(found.data["n"] if found else "")
            await client.delete(ConfigMap, "followed")
            assert (await anext(seen)).obj is None
        return values

    values = on(control_plane, act)
    assert (values[0], values[-1]) == ("0", "4")
    assert values == sorted(set(values))  # each at most once, and never back


def test_a_script_on_a_real_server(control_plane: Path) -> None:
    with connect(str(control_plane), namespace=NAMESPACE) as client:
        client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        client.apply(manifest("ConfigMap", "script", data={"a": "1"}))
        found = client.wait(ConfigMap, "script", lambda obj: bool(obj.data), timeout=30)
        client.delete(found)
        client.wait_gone(ConfigMap, "script", timeout=30)
        assert client.get(ConfigMap, "script") is None
    with connect(str(control_plane), as_user="jane", as_groups=["dev"]) as client, pytest.raises(errors.Forbidden, match='User "jane"'):
        client.list(ConfigMap)
