"""The typed verbs: what they send, and what they make of the answer."""

import copy

import msgspec
import pytest

from setpoint.api import Answer
from setpoint.client import errors
from setpoint.objects import OMIT, ObjectMeta, OwnerReference, Request, Untyped, decode
from setpoint.world import World, simulate

from .servers import ConfigMap, Script, WebApp, WebAppSpec, client_of, new_webapp, no, ok, webapp_content

KEY = Request("default", "web")
GONE = no(404, "NotFound", 'webapps.apps.example.com "web" not found', name="web", kind="webapps")


def using(script: Script, act, **options):
    async def main(world: World):
        return await act(client_of(script, world, **options))

    return simulate(main)


def raised(script: Script, act, error: type[Exception], **options) -> Exception:
    async def main(world: World):
        with pytest.raises(error) as caught:
            await act(client_of(script, world, **options))
        return caught.value

    return simulate(main)


# ---- reading


def test_get_gives_the_object_or_none():
    script = Script(ok(webapp_content()), GONE)
    app = using(script, lambda c: c.get(WebApp, KEY))
    assert app is not None
    assert (app.spec.replicas, app.status.ready_replicas) == (2, 0)
    assert using(script, lambda c: c.get(WebApp, "web", namespace="default")) is None
    assert [(s.verb, s.namespace, s.name) for s in script.sent] == [("get", "default", "web")] * 2


def test_get_of_a_kind_that_is_not_served_raises_instead_of_saying_none():
    raised(Script(Answer(status=404, body=b"404 page not found")), lambda c: c.get(WebApp, KEY), errors.NotServed)


def test_a_name_alone_needs_a_namespace_from_somewhere():
    error = raised(Script(), lambda c: c.get(WebApp, "web"), ValueError)
    assert "in which namespace" in str(error)
    script = Script(ok(webapp_content()))
    using(script, lambda c: c.get(WebApp, "web"), namespace="mine")
    assert script.sent[0].namespace == "mine"


def test_what_is_no_object_and_no_key_is_named():
    """As where a helper forgot its return, or a read gave None."""
    for act, says in (
        (lambda c: c.get(WebApp, None), "which WebApp"),
        (lambda c: c.apply(None), "an object or a manifest"),
        (lambda c: c.update("web"), "an object or a manifest"),
    ):
        assert says in str(raised(Script(), act, TypeError))


def page(*names: str, more: str = "", version: str = "9"):
    items = [{"metadata": {"name": name, "namespace": "default"}, "spec": {"image": "x"}} for name in names]
    return ok({"metadata": {"resourceVersion": version, "continue": more}, "items": items})


def test_list_reads_all_pages_of_one_version():
    script = Script(page("a", "b", more="token"), page("c"))
    apps = using(script, lambda c: c.list(WebApp, labels={"app": "web"}, namespace="default", limit=2))
    assert [app.name for app in apps] == ["a", "b", "c"]
    assert [dict(s.options) for s in script.sent] == [
        {"labelSelector": "app=web", "limit": "2"},
        {"labelSelector": "app=web", "limit": "2", "continue": "token"},
    ]


def test_list_starts_again_when_the_server_forgets_its_version_between_pages():
    expired = no(410, "Expired", "The provided continue parameter is too old")
    script = Script(page("a", "b", more="token"), expired, page("a", "b", "c", version="12"))
    items, version = using(script, lambda c: c.list_raw(c.info_of(WebApp), limit=2))
    assert [msgspec.json.decode(item)["metadata"]["name"] for item in items] == ["a", "b", "c"]
    assert version == "12"
    assert dict(script.sent[2].options) == {}


def test_list_by_owner_keeps_what_that_owner_controls():
    owner = decode(WebApp, msgspec.json.encode(webapp_content()))
    mine = {"apiVersion": "v1", "kind": "x", "name": "web", "uid": "u-web"}
    items = [
        {"metadata": {"name": "a", "ownerReferences": [{**mine, "controller": True}]}},
        {"metadata": {"name": "b", "ownerReferences": [mine]}},
        {"metadata": {"name": "c", "ownerReferences": [{**mine, "uid": "another", "controller": True}]}},
    ]
    found = using(Script(ok({"metadata": {}, "items": items})), lambda c: c.list(ConfigMap, owner=owner))
    assert [item.name for item in found] == ["a"]


def test_a_null_list_of_items_is_empty():
    assert using(Script(ok({"metadata": {}, "items": None})), lambda c: c.list(ConfigMap)) == []


# ---- apply and create


def test_apply_states_just_what_the_object_states_and_never_touches_it():
    app = new_webapp(resource_version="7", uid="u", labels={"a": "b"})
    app.status.ready_replicas = 3
    before = copy.deepcopy(app)
    script = Script(ok(webapp_content()))
    answer = using(script, lambda c: c.apply(app), field_manager="me")
    assert app == before
    assert answer.metadata.uid == "u-web"
    assert script.bodies == [
        {
            "apiVersion": "apps.example.com/v1",
            "kind": "WebApp",
            "metadata": {"name": "web", "namespace": "default", "labels": {"a": "b"}},
            "spec": {"image": "nginx", "replicas": 2},
        }
    ]
    sent = script.sent[0]
    assert (sent.verb, sent.content_type, dict(sent.options)) == (
        "patch",
        "application/apply-patch+yaml",
        {"fieldManager": "me", "force": "true"},
    )


def test_a_partial_apply_leaves_out_what_is_omitted():
    app = WebApp(metadata=ObjectMeta(name="web", namespace="default"), spec=WebAppSpec(image=OMIT, replicas=0))
    script = Script(ok(webapp_content()))
    using(script, lambda c: c.apply(app))
    assert script.bodies[0]["spec"] == {"replicas": 0}


def test_apply_of_the_status_states_it_alone():
    app = new_webapp(labels={"a": "b"})
    app.status.ready_replicas = 3
    script = Script(ok(webapp_content()))
    using(script, lambda c: c.apply(app, subresource="status"))
    assert script.sent[0].subresource == "status"
    assert script.bodies[0]["metadata"] == {"name": "web", "namespace": "default"}
    assert script.bodies[0]["status"] == {"readyReplicas": 3}
    assert "spec" not in script.bodies[0]


def owner_in(namespace: str) -> WebApp:
    return WebApp(metadata=ObjectMeta(name="web", namespace=namespace, uid="u-web"), spec=WebAppSpec(image="nginx"))


REFERENCE = {
    "apiVersion": "apps.example.com/v1",
    "kind": "WebApp",
    "name": "web",
    "uid": "u-web",
    "controller": True,
    "blockOwnerDeletion": True,
}


def test_an_owner_is_stated_on_a_copy_and_lends_its_namespace():
    child = ConfigMap(metadata=ObjectMeta(name="child"), data={"a": "b"})
    before = copy.deepcopy(child)
    script = Script(ok({"metadata": {"name": "child"}}), ok({"metadata": {"name": "child"}}, 201))
    using(script, lambda c: c.apply(child, owner=owner_in("default")))
    using(script, lambda c: c.create(child, owner=owner_in("default")))
    assert child == before
    for sent, body in zip(script.sent, script.bodies, strict=True):
        assert sent.namespace == "default"
        assert body["metadata"] == {"name": "child", "namespace": "default", "ownerReferences": [REFERENCE]}


def test_an_owner_that_is_stated_already_is_stated_once():
    child = ConfigMap(
        metadata=ObjectMeta(name="child", owner_references=[OwnerReference(api_version="v1", kind="X", name="x", uid="u-web")])
    )
    script = Script(ok({"metadata": {"name": "child"}}))
    using(script, lambda c: c.apply(child, owner=owner_in("default")))
    assert script.bodies[0]["metadata"]["ownerReferences"] == [REFERENCE]


def test_an_owner_in_another_namespace_is_refused_and_the_way_is_named():
    child = ConfigMap(metadata=ObjectMeta(name="child", namespace="other"))
    error = raised(Script(), lambda c: c.apply(child, owner=owner_in("default")), errors.OwnerRefused)
    for word in ("default/web", "'other'", "label", "index", "prune"):
        assert word in str(error)


def test_an_owner_without_uid_is_refused():
    child = ConfigMap(metadata=ObjectMeta(name="child"))
    raised(Script(), lambda c: c.apply(child, owner=new_webapp()), errors.OwnerRefused)


def test_an_object_that_another_uid_controls_is_refused_with_both_named():
    theirs = {**REFERENCE, "name": "theirs", "uid": "u-theirs"}
    cached = msgspec.json.encode({"metadata": {"name": "child", "namespace": "default", "ownerReferences": [theirs]}})
    child = ConfigMap(metadata=ObjectMeta(name="child"))
    error = raised(Script(), lambda c: c.apply(child, owner=owner_in("default")), errors.OwnerRefused, base=lambda info, key: cached)
    for word in ("theirs", "u-theirs", "default/web", "u-web"):
        assert word in str(error)


def test_an_object_that_states_another_controller_itself_is_refused_with_both_named():
    theirs = {**REFERENCE, "name": "theirs", "uid": "u-theirs"}
    child = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "child", "ownerReferences": [theirs]}}
    error = raised(Script(), lambda c: c.apply(child, ConfigMap, owner=owner_in("default")), errors.OwnerRefused)
    for word in ("theirs", "u-theirs", "default/web", "u-web"):
        assert word in str(error)


def test_a_mapping_finds_its_url_by_discovery_once():
    resources = [
        {"name": "widgets", "kind": "Widget", "namespaced": True},
        {"name": "widgets/status", "kind": "Widget", "namespaced": True},
    ]
    answer = ok({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}})
    script = Script(ok({"resources": resources}), answer, answer)
    manifest = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": "default", "creationTimestamp": None},
        "spec": {},
        "status": {"x": 1},
    }

    async def act(client):
        first = await client.apply(manifest)
        await client.apply(Untyped(copy.deepcopy(manifest)))
        return first

    assert isinstance(using(script, act), Untyped)
    assert script.sent[0].path == "/apis/example.com/v1"
    assert [str(s) for s in script.sent[1:]] == ["patch widgets.example.com default/w"] * 2
    expected = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"}, "spec": {}}
    assert script.bodies == [expected, expected]
    assert manifest["status"] == {"x": 1}


def test_a_manifest_of_an_unknown_kind_says_so():
    manifest = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    error = raised(Script(ok({"resources": []})), lambda c: c.apply(manifest), errors.NotServed)
    assert "Widget of example.com/v1" in str(error)
    raised(Script(Answer(status=404, body=b"404 page not found")), lambda c: c.apply(manifest), errors.NotServed)
    error = raised(Script(), lambda c: c.apply({"kind": "Widget"}), ValueError)
    assert "apiVersion" in str(error)


def test_create_posts_to_the_collection():
    script = Script(ok(webapp_content(), 201), no(409, "AlreadyExists", "there"))
    created = using(script, lambda c: c.create(new_webapp()))
    assert created.metadata.resource_version == "1"
    assert (script.sent[0].verb, script.sent[0].name) == ("create", "")
    raised(script, lambda c: c.create(new_webapp()), errors.AlreadyExists)
    raised(Script(), lambda c: c.create(WebApp(spec=WebAppSpec(image="x")), owner=owner_in("default")), ValueError)


# ---- update by difference


def read_app(version: int = 1, **spec) -> WebApp:
    return decode(WebApp, msgspec.json.encode(webapp_content(version, **spec)))


def test_update_sends_the_difference_and_brings_the_object_up_to_the_answer():
    app = read_app()
    app.spec.replicas = 5
    app.status.ready_replicas = 4
    answer = {**webapp_content(2, replicas=5), "status": {"readyReplicas": 1}}
    script = Script(ok(answer))
    base = msgspec.json.encode(webapp_content(1, unknown={"kept": True}))
    given = using(script, lambda c: c.update(app), base=lambda info, key: base)
    assert script.bodies == [{"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 5}}]
    assert script.sent[0].content_type == "application/merge-patch+json"
    assert given is app
    assert (app.metadata.resource_version, app.status.ready_replicas) == ("2", 4)


def test_no_difference_no_request():
    app = read_app()
    base = msgspec.json.encode(webapp_content())
    script = Script()
    using(script, lambda c: c.update(app), base=lambda info, key: base)
    using(script, lambda c: c.update_status(app), base=lambda info, key: base)
    app.status.ready_replicas = 1
    using(script, lambda c: c.update(app), base=lambda info, key: base)
    assert script.sent == []


def test_update_status_sends_the_status_alone_and_leaves_unsent_changes():
    app = read_app()
    app.status.ready_replicas = 1
    app.spec.replicas = 7
    base = msgspec.json.encode(webapp_content())
    script = Script(ok({**webapp_content(2), "status": {"readyReplicas": 1}}))
    using(script, lambda c: c.update_status(app), base=lambda info, key: base)
    assert script.sent[0].subresource == "status"
    assert script.bodies == [{"metadata": {"resourceVersion": "1"}, "status": {"readyReplicas": 1}}]
    assert (app.spec.replicas, app.metadata.resource_version) == (7, "2")


def test_a_kind_without_status_has_none_to_update():
    read = decode(ConfigMap, b'{"metadata":{"name":"a","namespace":"b","resourceVersion":"1"}}')
    raised(Script(), lambda c: c.update_status(read), TypeError)


def test_a_newer_cached_base_is_a_conflict_without_a_request():
    app = read_app(1)
    app.spec.replicas = 5
    newer = msgspec.json.encode(webapp_content(10))
    script = Script()
    error = raised(script, lambda c: c.update(app), errors.Conflict, base=lambda info, key: newer)
    assert script.sent == []
    assert "patch webapps.apps.example.com default/web" in str(error)
    assert "the object has been modified" in str(error)


@pytest.mark.parametrize("cached", [None, 9])
def test_a_base_that_the_cache_does_not_have_is_read_live_once(cached):
    app = read_app(10)
    app.spec.replicas = 5
    base = None if cached is None else msgspec.json.encode(webapp_content(cached))
    script = Script(ok(webapp_content(10)), ok(webapp_content(11, replicas=5)))
    using(script, lambda c: c.update(app), base=lambda info, key: base)
    assert [s.verb for s in script.sent] == ["get", "patch"]


def test_an_update_against_a_live_object_that_has_moved_on_or_gone():
    app = read_app(10)
    app.spec.replicas = 5
    raised(Script(ok(webapp_content(11))), lambda c: c.update(app), errors.Conflict)
    raised(Script(GONE), lambda c: c.update(app), errors.NotFound)
    error = raised(Script(), lambda c: c.update(new_webapp()), ValueError)
    assert "create or apply" in str(error)


# ---- patch and delete


def test_patch_is_a_merge_patch_or_a_json_patch():
    script = Script(ok(webapp_content()), ok(webapp_content()))
    using(script, lambda c: c.patch(WebApp, KEY, {"spec": {"replicas": None}}, subresource="status"))
    using(script, lambda c: c.patch(WebApp, KEY, [{"op": "remove", "path": "/spec/replicas"}]))
    assert [s.content_type for s in script.sent] == ["application/merge-patch+json", "application/json-patch+json"]
    assert script.sent[0].subresource == "status"


def test_delete_of_an_object_that_was_read_is_of_that_one_alone():
    script = Script(ok({"kind": "Status"}))
    using(script, lambda c: c.delete(read_app()))
    assert script.bodies == [
        {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background", "preconditions": {"uid": "u-web"}}
    ]


def test_delete_is_done_when_the_object_is_gone_or_another_one():
    in_storage = "Precondition failed: UID in precondition: u-web, UID in object meta: u-new"
    in_registry = "the UID in the precondition (u-web) does not match the UID in record (u-new)"
    script = Script(GONE, no(409, "Conflict", in_storage), no(409, "Conflict", in_registry), GONE)
    for _ in range(3):
        using(script, lambda c: c.delete(read_app()))
    using(script, lambda c: c.delete(WebApp, KEY, propagation="Orphan"))
    assert script.bodies[3] == {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Orphan"}
    raised(Script(no(409, "Conflict", "another reason")), lambda c: c.delete(read_app()), errors.Conflict)
    raised(Script(Answer(status=404, body=b"404 page not found")), lambda c: c.delete(read_app()), errors.NotServed)


def test_a_bound_client_speaks_for_another_run_and_shares_the_rest():
    script = Script(ok(webapp_content()))

    async def act(client):
        bound = client.bound(field_manager="webapp", run="webapp/default/web/3")
        assert bound.discovery is client.discovery
        assert client.run == ""
        await bound.apply(new_webapp())

    using(script, act)
    assert (script.sent[0].run, script.sent[0].options["fieldManager"]) == ("webapp/default/web/3", "webapp")
