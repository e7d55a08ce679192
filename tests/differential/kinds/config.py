"""Built-in kinds without a spec."""

from .kind import Kind

SORT = "config"

KINDS = (
    Kind(
        SORT, "", ("v1",), "configmaps", "ConfigMap",
        bases=({}, {"data": {"a": "1", "b": "2"}}, {"data": {"a": "1"}, "binaryData": {"bin": "aGVsbG8="}}, {"immutable": False, "data": {"k": ""}}),
        fragments=(
            {"data": {"a": "2"}}, {"data": {"c": "x\ny", "d.e": "1"}}, {"binaryData": {"bin2": "AAEC"}}, {"data": {"a": "1"}}, {"immutable": False},
            {"data": {}}, {"immutable": True},
        ),
        bad=({"data": {"bad key!": "x"}}, {"data": {"n": 5}}, {"binaryData": {"x": "%%%"}}, {"data": {"bin": "both"}}, {"immutable": "yes"}, {"data": []}),
        strategic=({"data": {"$patch": "replace", "z": "1"}}, {"data": {"$patch": "delete"}}, {"$patch": "replace", "data": {"n": "1"}}),
        removals=(("data", "a"), ("data",), ("binaryData",), ("immutable",)),
    ),
    Kind(
        SORT, "", ("v1",), "secrets", "Secret",
        bases=(
            {}, {"data": {"a": "YQ=="}}, {"stringData": {"p": "secret"}, "type": "example.com/sort"}, {"type": "Opaque", "data": {"x": ""}},
            {"type": "kubernetes.io/basic-auth", "stringData": {"username": "u", "password": "p"}},
        ),
        fragments=({"data": {"a": "Yg=="}}, {"stringData": {"b": "text"}}, {"data": {"c": "Yw==", "d": ""}}, {"immutable": False}, {"immutable": True}),
        bad=({"type": "kubernetes.io/tls"}, {"data": {"bad key!": ""}}, {"data": {"a": "no base64"}}, {"stringData": {"a": 1}}, {"type": "kubernetes.io/dockerconfigjson"}),
        strategic=({"data": {"$patch": "replace", "z": "eg=="}}, {"data": {"$patch": "delete"}}),
        removals=(("data", "a"), ("data",), ("immutable",)),
        fields=("type=Opaque", "type!=Opaque"),
    ),
    Kind(
        SORT, "", ("v1",), "serviceaccounts", "ServiceAccount",
        bases=({}, {"automountServiceAccountToken": False}, {"secrets": [{"name": "s1"}, {"name": "s2"}], "imagePullSecrets": [{"name": "p1"}]}),
        fragments=({"automountServiceAccountToken": True}, {"secrets": [{"name": "s1"}]}, {"secrets": [{"name": "s3"}]}, {"imagePullSecrets": [{"name": "p2"}]}),
        bad=({"automountServiceAccountToken": "x"}, {"secrets": {"name": "x"}}),
        strategic=(
            {"secrets": [{"$patch": "replace"}, {"name": "only"}]}, {"secrets": [{"name": "s1", "$patch": "delete"}]},
            {"$setElementOrder/secrets": [{"name": "s2"}, {"name": "s1"}], "secrets": [{"name": "s2"}, {"name": "s1"}]},
        ),
        removals=(("secrets",), ("automountServiceAccountToken",)),
    ),
    Kind(
        SORT, "rbac.authorization.k8s.io", ("v1",), "roles", "Role",
        bases=({"rules": []}, {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]}),
        fragments=(
            {"rules": [{"apiGroups": ["apps"], "resources": ["deployments", "deployments/status"], "verbs": ["*"]}]},
            {"rules": [{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one"], "verbs": ["get"]}]},
        ),
        bad=({"rules": [{"verbs": []}]}, {"rules": [{"apiGroups": [""], "verbs": ["get"]}]}, {"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]}, {"rules": {}}),
        removals=(("rules",),),
    ),
    Kind(
        SORT, "rbac.authorization.k8s.io", ("v1",), "rolebindings", "RoleBinding",
        bases=(
            {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, "subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": "NS"}]},
            {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}},
        ),
        fragments=(
            {"subjects": [{"kind": "User", "name": "u"}]}, {"subjects": [{"kind": "Group", "name": "g", "apiGroup": "rbac.authorization.k8s.io"}]},
            {"subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": "other"}]},
        ),
        bad=({"roleRef": {"name": "changed"}}, {"subjects": [{"kind": "ServiceAccount", "name": "s"}]}, {"subjects": [{"kind": "Robot", "name": "x"}]}),
        removals=(("subjects",),),
    ),
)  # fmt: skip
