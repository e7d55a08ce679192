"""Built-in kinds with a spec that stand for no pods."""

from .kind import Kind

SORT = "spec"

KINDS = (
    Kind(
        SORT, "", ("v1",), "services", "Service",
        bases=(
            {"spec": {"ports": [{"port": 80}], "selector": {"app": "x"}}},
            {"spec": {"type": "NodePort", "ports": [{"port": 80, "targetPort": "http", "name": "web"}, {"port": 443, "name": "tls"}]}},
            {"spec": {"clusterIP": "None", "selector": {"app": "x"}, "ports": [{"port": 80}]}},
            {"spec": {"type": "ExternalName", "externalName": "example.org"}},
            {"spec": {"type": "LoadBalancer", "ports": [{"port": 80}], "allocateLoadBalancerNodePorts": False}},
        ),
        fragments=(
            {"spec": {"selector": {"app": "y"}}}, {"spec": {"sessionAffinity": "ClientIP"}}, {"spec": {"publishNotReadyAddresses": True}}, {"spec": {"externalIPs": ["192.0.2.7"]}},
            {"spec": {"ports": [{"port": 80, "name": "web"}, {"port": 443, "name": "tls"}]}}, {"spec": {"selector": {"tier": "front"}}},
            {"spec": {"ports": [{"port": 8080, "name": "alt", "protocol": "TCP", "targetPort": 80}]}},
        ),
        bad=(
            {"spec": {"clusterIP": "10.0.0.250"}}, {"spec": {"ports": [{"port": 0}]}}, {"spec": {"ports": [{"port": 80}, {"port": 81}]}}, {"spec": {"type": "Wrong"}},
            {"spec": {"sessionAffinity": "Sometimes"}}, {"spec": {"externalIPs": ["localhost"]}}, {"spec": {"ports": [{"port": "eighty"}]}},
        ),
        strategic=(
            {"spec": {"ports": [{"port": 80, "$patch": "delete"}]}}, {"spec": {"ports": [{"$patch": "replace"}, {"port": 99}]}},
            {"spec": {"$setElementOrder/ports": [{"port": 443}, {"port": 80}], "ports": [{"port": 443, "name": "b"}, {"port": 80, "name": "a"}]}},
            {"spec": {"selector": {"$patch": "replace", "only": "this"}}}, {"spec": {"externalIPs": ["192.0.2.8"]}},
        ),
        status=({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}, {"status": {"conditions": [{"type": "C", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2001-02-03T04:05:06Z"}]}}),
        removals=(("spec", "selector"), ("spec", "externalIPs"), ("spec", "sessionAffinity")),
        fields=("spec.type=NodePort", "spec.clusterIP=None"),
    ),
    Kind(
        SORT, "networking.k8s.io", ("v1",), "ingresses", "Ingress",
        bases=(
            {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}},
            {"spec": {"ingressClassName": "c", "rules": [{"host": "a.example.org", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"name": "web"}}}}]}}]}},
        ),
        fragments=(
            {"spec": {"ingressClassName": "d"}}, {"spec": {"tls": [{"hosts": ["a.example.org"], "secretName": "t"}]}}, {"spec": {"defaultBackend": {"service": {"name": "t", "port": {"number": 81}}}}},
        ),
        bad=(
            {"spec": {"rules": [{"host": "*.*.x"}]}}, {"spec": {"ingressClassName": "Bad_Class"}}, {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 70000}}}}},
            {"spec": {"rules": [{"http": {"paths": [{"path": "x", "pathType": "Exact", "backend": {"service": {"name": "s", "port": {"number": 1}}}}]}}]}},
        ),
        strategic=({"spec": {"tls": [{"$patch": "replace"}, {"hosts": ["b.example.org"]}]}}, {"spec": {"$patch": "replace", "defaultBackend": {"service": {"name": "r", "port": {"number": 1}}}}}),
        status=({"status": {"loadBalancer": {"ingress": [{"hostname": "lb.example.org"}]}}}, {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.2", "ports": [{"port": 80, "protocol": "TCP"}]}]}}}),
        removals=(("spec", "tls"), ("spec", "ingressClassName")),
    ),
    Kind(
        SORT, "networking.k8s.io", ("v1",), "networkpolicies", "NetworkPolicy",
        bases=({"spec": {"podSelector": {}}}, {"spec": {"podSelector": {"matchLabels": {"a": "b"}}, "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}], "ports": [{"port": 80}]}]}}),
        fragments=({"spec": {"policyTypes": ["Ingress", "Egress"], "egress": [{"to": [{"podSelector": {}}]}]}}, {"spec": {"podSelector": {"matchLabels": {"x": "y"}}}}, {"spec": {"ingress": [{"ports": [{"port": "web", "protocol": "UDP"}]}]}}),
        bad=({"spec": {"policyTypes": ["Sideways"]}}, {"spec": {"ingress": [{"from": [{"ipBlock": {"cidr": "nowhere"}}]}]}}, {"spec": {"podSelector": {"matchLabels": {"bad key!": "x"}}}}),
        removals=(("spec", "egress"), ("spec", "policyTypes")),
    ),
    Kind(
        SORT, "", ("v1",), "persistentvolumeclaims", "PersistentVolumeClaim",
        bases=(
            {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
            {"spec": {"accessModes": ["ReadOnlyMany", "ReadWriteMany"], "storageClassName": "", "volumeMode": "Block", "resources": {"requests": {"storage": 1000}}}},
        ),
        fragments=({"metadata": {"annotations": {"p": "1"}}}, {"spec": {"resources": {"requests": {"storage": "1Gi"}}}}),
        bad=({"spec": {"accessModes": ["Sometimes"]}}, {"spec": {"storageClassName": "other"}}, {"spec": {"resources": {"requests": {"storage": "-1"}}}}, {"spec": {"volumeName": "Bad_"}}),
        strategic=({"metadata": {"annotations": {"$patch": "replace", "q": "1"}}},),
        status=({"status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}}, {"status": {"conditions": [{"type": "Resizing", "status": "True"}]}}, {"status": {"phase": "Lost"}}),
        removals=(("metadata", "annotations"),),
    ),
    Kind(
        SORT, "coordination.k8s.io", ("v1",), "leases", "Lease",
        bases=({}, {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 0}}, {"spec": {"holderIdentity": "me", "leaseDurationSeconds": 1, "acquireTime": "2001-02-03T04:05:06.000007Z", "renewTime": "2001-02-03T04:05:06.5Z"}}),
        fragments=({"spec": {"holderIdentity": "you"}}, {"spec": {"leaseDurationSeconds": 20}}, {"spec": {"renewTime": "2002-02-03T04:05:06.123456Z"}}, {"spec": {"leaseTransitions": 3}}),
        bad=({"spec": {"leaseDurationSeconds": 0}}, {"spec": {"leaseTransitions": -1}}, {"spec": {"renewTime": "yesterday"}}, {"spec": {"holderIdentity": ""}}),
        removals=(("spec", "holderIdentity"), ("spec", "renewTime"), ("spec",)),
    ),
    Kind(
        SORT, "", ("v1",), "events", "Event",
        bases=(
            {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "NS"}, "reason": "R", "message": "m", "type": "Normal"},
            {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "NS", "fieldPath": "spec"}, "reason": "R", "type": "Warning", "count": 2, "source": {"component": "c", "host": "h"},
             "firstTimestamp": "2001-02-03T04:05:06Z", "lastTimestamp": "2001-02-03T04:05:07Z"},
        ),
        fragments=({"message": "changed"}, {"count": 5}, {"lastTimestamp": "2001-02-03T05:05:07Z"}, {"type": "Warning"}),
        bad=({"involvedObject": {"namespace": "elsewhere"}}, {"count": "many"}, {"eventTime": "2001-02-03T04:05:06.000000Z"}),
        removals=(("message",), ("count",)),
        fields=("involvedObject.name=p", "reason=R", "type!=Normal", "involvedObject.kind=Node", "source=c", "reportingComponent=c"),
    ),
    Kind(
        SORT, "policy", ("v1",), "poddisruptionbudgets", "PodDisruptionBudget",
        bases=({"spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}}, {"spec": {"maxUnavailable": "30%", "selector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}]}}}),
        fragments=({"spec": {"selector": {"matchLabels": {"c": "d"}}}}, {"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}),
        bad=({"spec": {"minAvailable": 1, "maxUnavailable": 1}}, {"spec": {"minAvailable": "x%"}}, {"spec": {"unhealthyPodEvictionPolicy": "Q"}}, {"spec": {"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}}),
        strategic=({"spec": {"selector": {"$patch": "replace", "matchLabels": {"n": "m"}}}},),
        status=({"status": {"disruptionsAllowed": 1, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}}, {"status": {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 1, "expectedPods": 2, "observedGeneration": 1}}),
        removals=(("spec", "unhealthyPodEvictionPolicy"),),
    ),
    Kind(
        SORT, "autoscaling", ("v2", "v1"), "horizontalpodautoscalers", "HorizontalPodAutoscaler",
        bases=({"spec": {"maxReplicas": 5, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}}, {"spec": {"minReplicas": 2, "maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d"}}}),
        fragments=({"spec": {"maxReplicas": 6}}, {"spec": {"minReplicas": 1}}, {"spec": {"scaleTargetRef": {"name": "e"}}}),
        bad=({"spec": {"maxReplicas": 0}}, {"spec": {"minReplicas": 9, "maxReplicas": 1}}, {"spec": {"scaleTargetRef": {"kind": ""}}}),
        status=({"status": {"currentReplicas": 1, "desiredReplicas": 2}}, {"status": {"observedGeneration": 1, "desiredReplicas": 1, "currentReplicas": 0}}),
        removals=(("spec", "minReplicas"),),
    ),
    Kind(
        SORT, "", ("v1",), "resourcequotas", "ResourceQuota",
        bases=({"spec": {"hard": {"pods": "10000"}}}, {"spec": {"hard": {"requests.cpu": "100", "count/widgets.example.com": "500"}, "scopes": ["NotTerminating"]}}),
        fragments=({"spec": {"hard": {"configmaps": "10000"}}}, {"spec": {"hard": {"requests.memory": "10Gi"}}}),
        bad=({"spec": {"hard": {"pods": "-1"}}}, {"spec": {"scopes": ["Whole"]}}, {"spec": {"hard": {"pods": "1.5"}}}, {"spec": {"hard": {"no such": "1"}}}),
        status=({"status": {"hard": {"pods": "10"}, "used": {"pods": "1"}}}, {"status": {"used": {"pods": "2"}}}),
        without=("bad base",),
    ),
    Kind(
        SORT, "", ("v1",), "limitranges", "LimitRange",
        bases=({"spec": {"limits": []}}, {"spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "100Gi"}, "min": {"storage": "1"}}]}}),
        fragments=({"spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "50Gi"}}]}},),
        bad=({"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "2"}}]}}, {"spec": {"limits": [{"type": "Pod", "default": {"cpu": "1"}}]}}),
    ),
    Kind(
        SORT, "", ("v1",), "endpoints", "Endpoints",
        bases=({}, {"subsets": [{"addresses": [{"ip": "192.0.2.2"}, {"ip": "192.0.2.1"}], "ports": [{"port": 80}]}]}),
        fragments=({"subsets": [{"addresses": [{"ip": "192.0.2.3"}], "ports": [{"port": 81, "name": "web", "protocol": "TCP"}]}]}, {"subsets": [{"notReadyAddresses": [{"ip": "192.0.2.4", "hostname": "h"}], "ports": [{"port": 1}]}]}),
        bad=({"subsets": [{"addresses": [{"ip": "nowhere"}], "ports": [{"port": 80}]}]}, {"subsets": [{"addresses": [{"ip": "127.0.0.1"}], "ports": [{"port": 80}]}]}, {"subsets": [{"ports": [{"port": 0}]}]}),
        removals=(("subsets",),),
    ),
    Kind(
        SORT, "discovery.k8s.io", ("v1",), "endpointslices", "EndpointSlice",
        bases=({"addressType": "IPv4", "endpoints": [], "ports": []}, {"addressType": "IPv4", "endpoints": [{"addresses": ["192.0.2.1"], "conditions": {"ready": True}}], "ports": [{"port": 80, "name": "web"}]}),
        fragments=({"endpoints": [{"addresses": ["192.0.2.9"], "hostname": "h"}]}, {"ports": [{"port": 443, "protocol": "TCP", "name": "tls"}]}),
        bad=({"addressType": "IPv6"}, {"endpoints": [{"addresses": []}]}, {"ports": [{"port": 0}]}, {"ports": [{"name": "Bad_Name"}]}),
        removals=(("ports",),),
    ),
    Kind(
        SORT, "apps", ("v1",), "controllerrevisions", "ControllerRevision",
        bases=({"revision": 1, "data": {"a": {"b": [1, 2]}}}, {"revision": 0}),
        fragments=({"revision": 2}, {"revision": 7}),
        bad=({"revision": -1}, {"data": {"a": "changed"}}),
    ),
)  # fmt: skip
