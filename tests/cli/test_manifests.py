"""A manifest that cannot be applied is refused before anything runs, with where it is and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Cli, Ended, Write

GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"


@pytest.fixture
def apply(cli: Cli, controller: Path, server: Path) -> Cli:
    def apply(*paths: str) -> Ended:
        return cli("run", controller, "--kubeconfig", server, *(word for path in paths for word in ("--apply", path)))

    return apply


def test_a_missing_one(apply: Cli) -> None:
    assert apply("shop.yaml").refusal() == "there is no manifest shop.yaml"


def test_a_folder_without_any(apply: Cli, alone: Path) -> None:
    (alone / "manifests").mkdir()
    assert apply("manifests").refusal() == "the folder manifests holds no manifest (.yaml, .yml, .json)"


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n---\n"])
def test_an_empty_one(apply: Cli, write: Write, text: str) -> None:
    write("shop.yaml", text)
    assert apply("shop.yaml").refusal() == "the manifest shop.yaml is empty"


def test_one_that_is_no_yaml(apply: Cli, write: Write) -> None:
    write("shop.yaml", "spec:\n  replicas: [1\nkind: x: y\n")
    said = apply("shop.yaml").refusal()
    assert said.startswith("the manifest shop.yaml is not valid YAML (line 3, column ")


def test_one_that_is_no_text(apply: Cli, alone: Path) -> None:
    (alone / "shop.yaml").write_bytes(b"kind: \xff\n")
    assert apply("shop.yaml").refusal() == "the manifest shop.yaml is not UTF-8 text: invalid start byte at byte 6"


def test_one_that_is_no_object(apply: Cli, write: Write) -> None:
    write("shop.yaml", "- one\n- two\n")
    assert apply("shop.yaml").refusal() == "the manifest shop.yaml is no object: it has apiVersion, kind and metadata at its top"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("kind: WebApp\nmetadata: {name: shop}\n", "does not say its apiVersion"),
        ("apiVersion: v1\nmetadata: {name: shop}\n", "does not say its kind"),
        ("apiVersion: v1\nkind: ConfigMap\n", "(ConfigMap) has no metadata.name"),
    ],
)
def test_one_that_does_not_say_what_it_is(apply: Cli, write: Write, text: str, problem: str) -> None:
    write("shop.yaml", text)
    assert apply("shop.yaml").refusal() == f"the manifest shop.yaml {problem}"


def test_the_document_is_named(apply: Cli, write: Write) -> None:
    write("both.yaml", f"{GOOD}---\nkind: ConfigMap\n")
    assert apply("both.yaml").refusal() == "the manifest both.yaml, document 2 does not say its apiVersion"


def test_an_unknown_kind(apply: Cli, write: Write) -> None:
    write("shop.yaml", "apiVersion: apps.example.com/v1\nkind: WebApp\nmetadata: {name: shop}\n")
    assert apply("shop.yaml").refusal() == (
        "shop.yaml: the server does not serve the kind WebApp of apps.example.com/v1 "
        "(is its CustomResourceDefinition applied, and are apiVersion and kind spelled right? See `kubectl api-resources`)"
    )


def test_a_namespace_that_is_not_there(apply: Cli, write: Write) -> None:
    write("shop.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: nowhere}\n")
    said = apply("shop.yaml").refusal()
    assert said == 'shop.yaml: patch configmaps nowhere/one: namespaces "nowhere" not found (create the namespace first)'


def test_one_that_its_schema_refuses(cli: Cli, write: Write) -> None:
    example = Path(__file__).parents[2] / "examples" / "webapp" / "webapp.py"
    write("shop.yaml", "apiVersion: apps.example.com/v1\nkind: WebApp\nmetadata: {name: shop}\nspec: {image: nginx, replicas: 101}\n")
    said = cli("run", "--embedded", example, "--apply", "shop.yaml").refusal()
    assert said.startswith('shop.yaml: patch webapps.apps.example.com default/shop: WebApp.apps.example.com "shop" is invalid: ')
    assert "spec.replicas: Invalid value: 101: spec.replicas in body should be less than or equal to 100" in said


def test_a_field_that_its_schema_does_not_know(apply: Cli, write: Write) -> None:
    write("one.yaml", f"{GOOD}dta: {{a: b}}\n")
    said = apply("one.yaml").refusal()
    assert said.startswith("one.yaml: ")
    assert "dta" in said
