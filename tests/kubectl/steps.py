"""What is said to kubectl, step by step: one script for every kubectl and every server.

Steps build on each other, as in a session at a terminal, and start from a fresh control plane. Files named after `-f` are those of the
folder manifests/, and webapp-crd.yaml, which is the kind of examples/webapp as `setpoint crd` prints it. ConfigMaps and Secrets that are
described have one key, since old kubectls print several in random order. No step needs pods that run, which the real control plane, being
without nodes, could not have.
"""

import json

from .builtin_steps import BUILT_IN
from .step import During, Step

LOG_WATCHING = r"watch=true"
"""What kubectl's log shows (with --v=6) once a watch is answered."""


def report(ready: int, status: str) -> str:
    """The call by which a controller's report about the shop is played."""
    condition = {"type": "Ready", "status": status, "reason": "Replicas", "lastTransitionTime": "2026-01-02T03:04:05Z"}
    patch = json.dumps({"status": {"readyReplicas": ready, "conditions": [condition]}})
    return f"patch webapp shop --subresource=status --type=merge -p '{patch}'"


THIRD = json.dumps({"apiVersion": "apps.example.com/v1", "kind": "WebApp", "metadata": {"name": "third"}, "spec": {"image": "nginx:1.29"}})

VERSIONS = ("v1", "apps/v1", "apps.example.com/v1", "apiextensions.k8s.io/v1", "coordination.k8s.io/v1")
QUALIFIED = (
    "configmaps",
    "events",
    "namespaces",
    "pods",
    "secrets",
    "serviceaccounts",
    "services",
    "deployments.apps",
    "replicasets.apps",
    "leases.coordination.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    "webapps.apps.example.com",
)
RESOURCES = tuple(name.partition(".")[0] for name in QUALIFIED)

EVENT_OF = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "shop.stocked"},
        "involvedObject": {
            "apiVersion": "{{.apiVersion}}",
            "kind": "{{.kind}}",
            "namespace": "{{.metadata.namespace}}",
            "name": "{{.metadata.name}}",
            "uid": "{{.metadata.uid}}",
        },
        "type": "Normal",
        "reason": "Stocked",
        "message": "The shelves are full",
        "source": {"component": "shopkeeper"},
        "firstTimestamp": "2026-01-03T03:04:05Z",
        "lastTimestamp": "2026-01-03T03:04:05Z",
        "count": 1,
    }
)
"""A Go template of an Event about an object: `describe` looks for events by the UID."""

KIND = [
    Step(name="version", call="version"),
    Step(name="namespaces", call="get namespaces", until="kube-system(.|\n)*"),
    Step(name="namespaces by name", call="get namespaces -o name"),
    Step(name="no such kind yet", call="get webapps", code=1),
    Step(name="apply the kind", call="apply -f webapp-crd.yaml"),
    Step(name="wait for the kind", call="wait --for=condition=Established crd/webapps.apps.example.com --timeout=30s"),
    Step(name="get the kind", call="get crd webapps.apps.example.com"),
    Step(name="explain webapp", call="explain webapp", until="A web application"),
    Step(name="explain webapp.spec", call="explain webapp.spec"),
    Step(name="explain one field", call="explain webapp.spec.replicas"),
    Step(name="explain everything", call="explain wa --recursive"),
    Step(name="explain an unknown field", call="explain webapp.spec.colour", code=1),
    Step(name="api-resources", call="api-resources", served=RESOURCES, until="webapps"),
    Step(name="api-resources, wide", call="api-resources -o wide", served=RESOURCES),
    Step(name="api-resources by name", call="api-resources -o name", served=QUALIFIED),
    Step(name="api-resources of a group", call="api-resources --api-group=apps.example.com"),
    Step(name="api-versions", call="api-versions", served=VERSIONS),
    Step(name="none yet", call="get webapps"),
]

APPLY = [
    Step(name="diff of what is not there", call="diff -f shop.yaml", code=1),
    Step(name="apply first", call="apply -f shop.yaml"),
    Step(name="apply again", call="apply -f shop.yaml"),
    Step(name="after apply", call="get webapp shop -o yaml --show-managed-fields"),
    Step(name="diff without a difference", call="diff -f shop.yaml"),
    Step(name="diff of a change", call="diff -f shop-changed.yaml", code=1),
    Step(name="apply changed, dry run", call="apply -f shop-changed.yaml --dry-run=server"),
    Step(name="apply changed", call="apply -f shop-changed.yaml"),
    Step(name="after the change", call="get webapp shop -o yaml --show-managed-fields"),
    Step(name="apply without replicas", call="apply -f shop-defaulted.yaml -o jsonpath='{.spec}'"),
    Step(name="apply two from one file", call="apply -f two.yaml"),
    Step(name="apply from standard input", call="apply -f -", stdin=THIRD),
    Step(name="delete two from one file", call="delete -f two.yaml"),
    Step(name="delete by kind and name", call="delete webapp/third"),
]  # fmt: skip

SERVER_SIDE = [
    Step(name="server-side apply first", call="apply --server-side -f blog.yaml"),
    Step(name="server-side apply again", call="apply --server-side -f blog.yaml"),
    Step(name="after server-side apply", call="get webapp blog -o yaml --show-managed-fields"),
    Step(name="server-side conflict", call="apply --server-side --field-manager=other -f blog-other.yaml", code=1),
    Step(name="server-side forced", call="apply --server-side --field-manager=other --force-conflicts -f blog-other.yaml"),
    Step(name="after forcing", call="get webapp blog -o yaml --show-managed-fields"),
    Step(name="server-side conflict the other way", call="apply --server-side -f blog.yaml", code=1),
    Step(name="server-side diff", call="diff --server-side --field-manager=other -f blog-other.yaml"),
    Step(name="server-side after client-side", call="apply --server-side -f shop-changed.yaml", code=1),
    Step(name="server-side after client-side, forced", call="apply --server-side --force-conflicts -f shop-changed.yaml"),
    Step(name="after both sides", call="get webapp shop -o yaml --show-managed-fields"),
    Step(name="client-side again", call="apply -f shop-changed.yaml"),
]

READ = [
    Step(name="report", call=report(3, "False")),
    Step(name="get", call="get webapps"),
    Step(name="get by short name", call="get wa"),
    Step(name="get one", call="get webapp shop"),
    Step(name="get with the group", call="get webapps.v1.apps.example.com shop"),
    Step(name="get with kind and name", call="get webapp/shop webapp/blog"),
    Step(name="get in all namespaces", call="get webapps -A"),
    Step(name="get in another namespace", call="get webapps -n kube-system"),
    Step(name="get with labels shown", call="get webapps --show-labels -L tier"),
    Step(name="get by label", call="get webapps -l tier=back"),
    Step(name="get by label, none", call="get webapps -l tier=side"),
    Step(name="get by field", call="get webapps --field-selector=metadata.name=blog"),
    Step(name="get by an unknown field", call="get webapps --field-selector=spec.image=nginx", code=1),
    Step(name="get sorted", call="get webapps --sort-by=.spec.replicas"),
    Step(name="get in pages", call="get webapps --chunk-size=1"),
    Step(name="get -o wide", call="get webapps -o wide"),
    Step(name="get -o wide one", call="get webapp shop -o wide"),
    Step(name="get -o name", call="get webapps -o name"),
    Step(name="get -o yaml", call="get webapp shop -o yaml"),
    Step(name="get -o json", call="get webapp shop -o json"),
    Step(name="get list -o yaml", call="get webapps -o yaml"),
    Step(name="get list -o json", call="get webapps -o json"),
    Step(name="get -o jsonpath", call="get webapps -o jsonpath='{range .items[*]}{.metadata.name}={.spec.replicas};{end}'"),
    Step(name="get -o jsonpath one", call="get webapp shop -o jsonpath='{.status.conditions[?(@.type==\"Ready\")].status}'"),
    Step(name="get -o custom-columns", call="get webapps -o custom-columns=NAME:.metadata.name,IMAGE:.spec.image"),
    Step(name="get status subresource", call="get webapp shop --subresource=status"),
    Step(name="get scale subresource", call="get webapp shop --subresource=scale -o jsonpath='{.spec.replicas}/{.status.replicas}'"),
    Step(name="get scale as table", call="get webapp shop --subresource=scale"),
    Step(name="create an event", call="create -f event.yaml"),
    Step(name="create a warning", call="create -f warning.yaml"),
    Step(name="write an event with the UID", call=f"get webapp shop -o go-template='{EVENT_OF}'"),
    Step(name="create the event with the UID", call="create -f -", piped=True),
    Step(name="get events", call="get events"),
    Step(name="get events sorted", call="get events --sort-by=.lastTimestamp"),
    Step(name="get events -o wide", call="get events -o wide"),
    Step(name="get events by field", call="get events --field-selector=type=Warning,involvedObject.name=shop"),
    Step(name="get events by name", call="get events -o name"),
    Step(name="events of an object", call="events --for=webapp/shop"),
    Step(name="describe", call="describe webapp shop"),
    Step(name="describe without events", call="describe webapp blog"),
    Step(name="describe all", call="describe webapps"),
]  # fmt: skip

WATCH = [
    During(
        name="get -w",
        call="get webapps -w",
        after_lines=3,
        then=[
            Step(name="get -w: a change", call='patch webapp shop --type=merge -p \'{"spec":{"replicas":6}}\''),
            Step(name="get -w: a creation", call="create -f wiki.yaml"),
            Step(name="get -w: a deletion", call="delete webapp blog"),
        ],
        lines=6,
    ),
    During(
        name="get -w of one",
        call="get webapp shop -w",
        after_lines=2,
        then=[
            Step(name="get -w of one: another changes", call="label webapp wiki a=b"),
            Step(name="get -w of one: a report", call=report(6, "True")),
        ],
        lines=3,
    ),
    During(
        name="get --watch-only",
        call="get webapps --watch-only --output-watch-events --v=6",
        after_log=LOG_WATCHING,
        then=[Step(name="get --watch-only: a change", call='patch webapp shop --type=merge -p \'{"spec":{"replicas":2}}\'')],
        lines=2,
    ),
    During(
        name="get -w -o json",
        call="get webapp shop -w -o jsonpath='{.spec.replicas}{\"\\n\"}'",
        after_lines=1,
        then=[Step(name="get -w -o json: a change", call='patch webapp shop --type=merge -p \'{"spec":{"replicas":3}}\'')],
        lines=2,
    ),
]

CHANGE = [
    Step(name="patch", call='patch webapp shop --type=merge -p \'{"spec":{"image":"nginx:1.31"}}\''),
    Step(name="patch without a change", call='patch webapp shop --type=merge -p \'{"spec":{"image":"nginx:1.31"}}\''),
    Step(name="patch into the invalid", call='patch webapp shop --type=merge -p \'{"spec":{"replicas":101}}\'', code=1),
    Step(name="patch of the missing", call='patch webapp nowhere --type=merge -p \'{"spec":{"replicas":1}}\'', code=1),
    Step(name="patch that is no JSON", call="patch webapp shop --type=merge -p '{'", code=1),
    Step(name="edit", call="edit webapp shop", editor="sed -i s/nginx:1.31/nginx:1.32/"),
    Step(name="edit without a change", call="edit webapp shop", editor="true"),
    Step(name="edit into the invalid", call="edit webapp shop", editor="sed -i 's/replicas: 3$/replicas: 300/'", code=1),
    Step(name="edit of the status", call="edit webapp shop --subresource=status", editor="sed -i 's/readyReplicas: 6/readyReplicas: 5/'"),
    Step(name="after edit", call="get webapp shop -o yaml --show-managed-fields"),
    Step(name="scale", call="scale webapp shop --replicas=7"),
    Step(name="scale with the right precondition", call="scale webapp shop --current-replicas=7 --replicas=8"),
    Step(name="scale with the wrong precondition", call="scale webapp shop --current-replicas=7 --replicas=9", code=1),
    Step(name="scale out of bounds", call="scale webapp shop --replicas=101", code=1),
    Step(name="scale of the missing", call="scale webapp nowhere --replicas=1", code=1),
    Step(name="after scale", call="get webapp shop -o jsonpath='{.spec.replicas} {.metadata.generation}'"),
    Step(name="label", call="label webapp shop colour=blue"),
    Step(name="label without overwrite", call="label webapp shop colour=red", code=1),
    Step(name="label with overwrite", call="label webapp shop colour=red --overwrite"),
    Step(name="label the same", call="label webapp shop colour=red"),
    Step(name="label removed", call="label webapp shop colour-"),
    Step(name="label removed twice", call="label webapp shop colour-"),
    Step(name="label that is malformed", call="label webapp shop 'a b=c'", code=1),
    Step(name="annotate", call="annotate webapp shop example.com/note='well done'"),
    Step(name="annotate with overwrite", call="annotate webapp shop example.com/note=better --overwrite"),
    Step(name="annotate removed", call="annotate webapp shop example.com/note-"),
    Step(name="replace", call="replace -f replaced.yaml"),
    Step(name="after replace", call="get webapp shop -o yaml --show-managed-fields"),
    Step(name="replace what has changed", call="replace -f stale.yaml", code=1),
    Step(name="replace of the missing", call="replace -f blog.yaml", code=1),
    Step(name="apply over replace", call="apply -f shop.yaml"),
]

WAIT = [
    Step(name="wait for a condition that holds", call="wait --for=condition=Ready webapp/shop --timeout=30s", until="met"),
    Step(name="wait for a condition in vain", call="wait --for=condition=Ready=False webapp/shop --timeout=3s", code=1),
    Step(name="wait for what is not there", call="wait --for=condition=Ready webapp/nowhere --timeout=3s", code=1),
    During(
        name="wait for a condition",
        call="wait --for=condition=Ready=False webapp/shop --timeout=60s --v=6",
        after_log=LOG_WATCHING,
        then=[Step(name="wait for a condition: the report", call=report(0, "False"))],
    ),
    During(
        name="wait for a value",
        call="wait --for=jsonpath='{.status.readyReplicas}'=3 webapp/shop --timeout=60s --v=6",
        after_log=LOG_WATCHING,
        then=[Step(name="wait for a value: the report", call=report(3, "True"))],
    ),
    Step(name="delete without waiting", call="delete webapp wiki --wait=false"),
    Step(name="held by a finalizer", call="get webapp wiki -o yaml"),
    During(
        name="wait for a deletion",
        call="wait --for=delete webapp/wiki --timeout=60s --v=6",
        after_log=LOG_WATCHING,
        then=[Step(name="wait for a deletion: let go", call='patch webapp wiki --type=merge -p \'{"metadata":{"finalizers":null}}\'')],
    ),
    Step(name="wait for a deletion that was", call="wait --for=delete webapp/wiki --timeout=30s"),
]

REFUSED = [
    Step(name="get the missing", call="get webapp nowhere", code=1),
    Step(name="get the missing, ignored", call="get webapp nowhere --ignore-not-found"),
    Step(name="get the missing and the present", call="get webapp nowhere shop", code=1),
    Step(name="get an unknown resource", call="get webapplications", code=1),
    Step(name="get an unknown group", call="get webapps.example.org", code=1),
    Step(name="describe the missing", call="describe webapp nowhere", code=1),
    Step(name="create what is there", call="create -f shop.yaml", code=1),
    Step(name="create the invalid", call="create -f invalid.yaml", code=1),
    Step(name="apply the invalid", call="apply -f invalid.yaml", code=1),
    Step(name="apply the invalid, server-side", call="apply --server-side -f invalid.yaml", code=1),
    Step(name="create the wrong type", call="create -f wrong-type.yaml", code=1),
    Step(name="create a bad name", call="create -f bad-name.yaml", code=1),
    Step(name="create an unknown kind", call="create -f unknown-kind.yaml", code=1),
    Step(name="create in a missing namespace", call="create -f blog.yaml -n nowhere", code=1),
    Step(name="create an unknown field", call="create -f unknown-field.yaml", code=1),
    Step(name="create an unknown field, ignored", call="create -f unknown-field.yaml --validate=ignore --dry-run=server"),
    Step(name="create an unknown field, warned", call="create -f unknown-field.yaml --validate=warn"),
    Step(name="apply an unknown field", call="apply -f unknown-field.yaml", code=1),
    Step(name="apply an unknown field, server-side", call="apply --server-side -f unknown-field.yaml", code=1),
    Step(name="the unknown field is dropped", call="get webapp unknown -o jsonpath='{.spec}'"),
    Step(name="delete a wrong name", call="delete webapp nowhere", code=1),
    Step(name="delete a wrong name, ignored", call="delete webapp nowhere --ignore-not-found"),
    Step(name="delete, dry run", call="delete webapp shop --dry-run=server"),
    Step(name="delete", call="delete webapp shop"),
    Step(name="delete the rest", call="delete webapps --all"),
    Step(name="none left", call="get webapps"),
]

CONFIGMAPS = [
    Step(name="create a ConfigMap", call="create -f settings.yaml"),
    Step(name="create a ConfigMap again", call="create -f settings.yaml", code=1),
    Step(name="create an unknown ConfigMap field", call="create -f unknown-configmap-field.yaml", code=1),
    Step(name="get a ConfigMap", call="get configmap settings"),
    Step(name="get ConfigMaps by label", call="get cm -l tier=front"),
    Step(name="get a ConfigMap -o yaml", call="get configmap settings -o yaml --show-managed-fields"),
    Step(name="get a ConfigMap -o json", call="get configmap settings -o json"),
    Step(name="describe a ConfigMap", call="describe configmap settings"),
    Step(name="label a ConfigMap", call="label configmap settings colour=blue"),
    Step(name="annotate a ConfigMap", call="annotate configmap settings example.com/note=good"),
    Step(name="the changed ConfigMap", call="get configmap settings -o yaml --show-managed-fields"),
    Step(name="get a missing ConfigMap", call="get configmap nowhere", code=1),
    Step(name="delete a ConfigMap", call="delete configmap settings"),
    Step(name="delete a ConfigMap again", call="delete configmap settings", code=1),
]

SECRETS = [
    Step(name="create a Secret", call="create -f password.yaml"),
    Step(name="get a Secret", call="get secret password"),
    Step(name="create a Secret of words", call="create -f words.yaml"),
    Step(name="words in base64", call="get secret words -o jsonpath='{.data}'"),
    Step(name="get Secrets", call="get secrets"),
    Step(name="get a Secret -o yaml", call="get secret password -o yaml --show-managed-fields"),
    Step(name="get a Secret -o jsonpath", call="get secret password -o jsonpath='{.data.password}'"),
    Step(name="describe a Secret", call="describe secret password"),
    Step(name="label a Secret", call="label secret password colour=blue"),
    Step(name="annotate a Secret", call="annotate secret password example.com/note=good"),
    Step(name="the changed Secret", call="get secret password -o yaml"),
    Step(name="delete a Secret", call="delete secret password"),
    Step(name="get the deleted Secret", call="get secret password", code=1),
]

GONE = [
    Step(name="create before the kind goes", call="create -f blog.yaml"),
    Step(name="delete the kind", call="delete -f webapp-crd.yaml"),
    Step(name="no such kind any more", call="get webapps", code=1, until="could not find"),
]

SCRIPT = [*KIND, *APPLY, *SERVER_SIDE, *READ, *WATCH, *CHANGE, *WAIT, *REFUSED, *CONFIGMAPS, *SECRETS, *GONE, *BUILT_IN]
