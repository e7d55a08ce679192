"""Operations and HTTP requests say the same thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.api import GroupVersionResource, Operation
from setpoint.api.paths import MethodNotAllowed, NotAPath, from_http, to_http

names = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?", fullmatch=True)
resources = st.builds(
    GroupVersionResource,
    st.sampled_from(["", "apps", "apps.example.com"]),
    st.sampled_from(["v1", "v1beta1"]),
    st.sampled_from(["pods", "webapps", "configmaps"]),
)


@st.composite
def operations(draw):
    verb = draw(st.sampled_from(["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]))
    named = verb in ("get", "update", "patch", "delete")
    return Operation(
        verb=verb,
        resource=draw(resources),
        namespace=draw(st.one_of(st.just(""), names.filter(lambda n: n not in ("status", "finalize")))),
        name=draw(names) if named else "",
        subresource=draw(st.sampled_from(["", "status", "scale"])) if named else "",
        options=draw(st.dictionaries(st.sampled_from(["limit", "labelSelector", "resourceVersion"]), st.text(max_size=10))),
    )


def test_a_namespace_cannot_add_to_the_path():
    operation = Operation(verb="get", resource=GroupVersionResource("", "v1", "configmaps"), namespace="a?x=/secrets", name="b#c")
    assert to_http(operation) == ("GET", "/api/v1/namespaces/a%3Fx%3D%2Fsecrets/configmaps/b%23c")


@given(operations())
def test_an_operation_survives_http(operation):
    method, target = to_http(operation)
    path, _, query = target.partition("?")
    back = from_http(method, path, query)
    for field in ("verb", "resource", "namespace", "name", "subresource", "options"):
        assert getattr(back, field) == getattr(operation, field)


@pytest.mark.parametrize(
    ("method", "path", "query", "verb", "namespace", "name", "subresource"),
    [
        ("GET", "/api/v1/namespaces/a", "", "get", "", "a", ""),
        ("GET", "/api/v1/namespaces/a/status", "", "get", "", "a", "status"),
        ("PUT", "/api/v1/namespaces/a/finalize", "", "update", "", "a", "finalize"),
        ("GET", "/api/v1/namespaces/a/pods", "watch=True", "watch", "a", "", ""),
        ("GET", "/api/v1/namespaces/a/pods", "watch=", "watch", "a", "", ""),
        ("GET", "/api/v1/namespaces/a/pods", "watch=0", "list", "a", "", ""),
        ("GET", "/api/v1/watch/pods", "", "watch", "", "", ""),
        ("GET", "/api/v1/namespaces/a/pods/p/log", "", "get", "a", "p", "log"),
        ("DELETE", "/apis/apps/v1/namespaces/a/deployments", "", "deletecollection", "a", "", ""),
    ],
)
def test_paths_mean_what_kubernetes_means(method, path, query, verb, namespace, name, subresource):
    operation = from_http(method, path, query)
    assert (operation.verb, operation.namespace, operation.name, operation.subresource) == (verb, namespace, name, subresource)


def test_a_watch_of_one_object_is_a_watch_with_a_field_selector():
    operation = from_http("GET", "/api/v1/watch/namespaces/a/pods/p")
    assert (operation.verb, operation.name, operation.options) == ("watch", "", {"fieldSelector": "metadata.name=p"})


def test_watch_means_nothing_for_one_object():
    operation = from_http("GET", "/api/v1/namespaces/a/pods/p", "watch=1")
    assert (operation.verb, operation.name, operation.options) == ("get", "p", {})


@pytest.mark.parametrize(
    ("query", "options", "repeated"),
    [
        ("a=1&a=2&a=1", {"a": "1"}, (("a", "2"), ("a", "1"))),
        ("a=1;b=2&c=3", {"c": "3"}, ()),
        ("a=%zz&%=1&b=%2B+x", {"b": "+ x"}, ()),
        ("&&&=&a", {"": "", "a": ""}, ()),
        ("a=b=c", {"a": "b=c"}, ()),
    ],
)
def test_of_a_parameter_the_first_value_counts_and_what_cannot_be_read_does_not(query, options, repeated):
    operation = from_http("GET", "/api/v1/pods", query)
    assert (operation.options, operation.arguments) == (options, repeated)


@pytest.mark.parametrize(
    ("path", "namespace", "plural"),
    [
        ("/api/v1/namespaces/a%2Fpods/p", "a", "pods"),  # what is encoded is decoded before the path is taken apart
        ("/api/v1/name%73paces/a/pods/", "a", "pods"),
        ("/api/v1/namespaces//pods", "", "pods"),
        ("/api/v1//namespaces", "", ""),
        ("/api/v1/namespaces/a//pods", "a", ""),
        ("/api/v1/namespaces/a/pods//log", "a", ""),
    ],
)
def test_a_path_is_taken_apart_as_the_real_server_does(path, namespace, plural):
    operation = from_http("GET", path)
    assert operation.resource is not None
    assert (operation.resource.resource, operation.namespace) == (plural, namespace)


@pytest.mark.parametrize("path", ["/version", "/api", "/apis", "/apis/apps", "/api/v1", "/apis/apps/v1", "/openapi/v3/apis/apps/v1", "/"])
def test_what_is_no_resource_is_read_by_path(path):
    if path in ("/api/v1", "/apis/apps", "/apis/apps/v1"):
        path += "/"
    operation = from_http("GET", path)
    assert operation.resource is None
    assert operation.path == "/" + path.strip("/")
    assert from_http("POST", path).path == operation.path


def test_what_is_no_request_is_refused():
    for method, path in (("PATCH", "/api/v1/pods"), ("HEAD", "/api/v1/pods"), ("POST", "/api/v1/watch/pods"), ("BREW", "/api/v1/pods/a")):
        with pytest.raises(MethodNotAllowed):
            from_http(method, path)
    for path in ("//api/v1/pods", "//version", "version"):
        with pytest.raises(NotAPath):
            from_http("GET", path)
