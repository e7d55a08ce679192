"""Names on the wire."""

import pytest

from setpoint.objects import api_name, python_name

NAMES = [
    *("clusterIP", "clusterIPs", "podIPs", "hostIP", "externalIPs", "loadBalancerIP", "apiVersion", "podCIDR", "podCIDRs", "uid"),
    *("hostPID", "hostIPC", "containerID", "systemUUID", "providerID", "nonResourceURLs", "serverAddressByClientCIDRs", "targetWWNs"),
    *("setHostnameAsFQDN", "scaleIO", "storageOS", "downwardAPI", "openAPIV3Schema", "insecureSkipTLSVerify", "diskURI", "fieldsV1"),
    *("targetCPUUtilizationPercentage", "httpGet", "resourceVersion", "seLinuxOptions", "osImage", "fsGroup", "from", "continue"),
]


@pytest.mark.parametrize("wire", NAMES)
def test_python_and_wire_name_lead_to_each_other(wire: str) -> None:
    assert api_name(python_name(wire)) == wire


def test_words_are_told_apart() -> None:
    wire = ("podIPs", "openAPIV3Schema", "from", "apiVersion")
    assert [python_name(name) for name in wire] == ["pod_ips", "open_api_v3_schema", "from_", "api_version"]
