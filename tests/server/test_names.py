"""What names may look like, in the words of a real kube-apiserver."""

from __future__ import annotations

import pytest

from setpoint.cluster.server.names import dns_label, dns_subdomain, label_key, label_value


def test_names_are_measured_in_characters_and_what_labels_consist_of_in_bytes() -> None:
    assert dns_subdomain("x" * 254) == ["must be no more than 253 characters"]
    assert dns_label("x" * 64) == ["must be no more than 63 characters"]
    assert label_key("p" * 254 + "/k") == ("prefix part must be no more than 253 bytes",)
    assert label_key("k" * 64) == ("name part must be no more than 63 bytes",)
    assert label_value("v" * 64) == ("must be no more than 63 bytes",)


@pytest.mark.parametrize(
    ("prefix", "good"), [("G-", True), ("a--", True), ("aB-", True), ("a-", True), ("-", False), ("A", False), ("a", True)]
)
def test_of_a_prefix_that_ends_with_a_dash_the_character_before_it_is_not_looked_at(prefix: str, good: bool) -> None:
    assert (dns_subdomain(prefix, True) == []) is good
