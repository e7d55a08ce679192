"""Schemas made up at random: structural ones with faults here and there."""

from __future__ import annotations

from random import Random
from typing import Any

Schema = dict[str, Any]

NAMES = ("a", "b", "c", "name", "spec", "status", "metadata", "kind", "apiVersion", "x-y", "d.e", "items")
FORMATS = (
    "date-time",
    "date",
    "duration",
    "email",
    "ipv4",
    "ipv6",
    "ip",
    "cidr",
    "mac",
    "uuid",
    "uuid4",
    "byte",
    "int32",
    "int64",
    "float",
    "double",
    "hostname",
    "uri",
    "password",
    "isbn",
    "creditcard",
    "hexcolor",
    "bsonobjectid",
    "ssn",
    "rgbcolor",
    "made-up",
    "binary",
    "datetime",
    "k8s-short-name",
    "k8s-long-name",
    "int-or-string",
    "regex",
)
PATTERNS = ("^a", "b+$", "^[a-z]{1,3}$", "(", "a{2,1}", "^(?i)x", r"\d+", "[[:alpha:]]+", "(?=a)", "^$", r"\pL", "")
TEXTS = (
    "",
    "a",
    "abc",
    "x y",
    "ab",
    "bb",
    "2020-01-01",
    "2020-01-01T00:00:00Z",
    "1.2.3.4",
    "::1",
    "10.0.0.0/8",
    "1h",
    "YWJj",
    "é",
    "a\nb",
    "<&>",
    "5",
    "A",
)
NUMBERS = (0, 1, -1, 2, 5, 10, 0.5, -2.5, 2**31, 2**53 + 1, 1e10, 1e21, 0.1)


class SchemaMaker:
    """Makes schemas. `faults` is how likely each choice is a wrong one."""

    def __init__(self, random: Random, faults: float) -> None:
        self.random = random
        self.faults = faults

    def wrong(self, weight: float = 1.0) -> bool:
        """Whether the next choice is to be a wrong one."""
        return self.random.random() < self.faults * weight

    def maybe(self, share: float) -> bool:
        """True so often."""
        return self.random.random() < share

    def root(self) -> Schema:
        """The schema of a kind."""
        schema = self.node(0, "object")
        schema.pop("nullable", None)
        schema.pop("additionalProperties", None)
        schema.pop("x-kubernetes-embedded-resource", None)
        properties = schema.setdefault("properties", {})
        for name in ("apiVersion", "kind"):
            if name in properties and not self.wrong(3):
                properties[name] = {"type": "string"}
        if "metadata" in properties and not self.wrong(3):
            properties["metadata"] = self.metadata()
        for name in ("spec", "status"):
            if self.maybe(0.7):
                properties[name] = self.node(1, "object")
        if self.wrong():
            schema["type"] = self.random.choice(["string", "array", "", "null"])
        if self.wrong():
            schema["nullable"] = True
        if self.wrong():
            schema["additionalProperties"] = self.random.choice([True, False, {"type": "string"}])
        if self.wrong(0.3):
            schema.pop("type", None)
        return schema

    def metadata(self) -> Schema:
        """What a schema may say of metadata, and a bit more."""
        properties: dict[str, Schema] = {}
        for name in ("name", "generateName", *(["labels", "finalizers"] if self.wrong(2) else [])):
            if self.maybe(0.5):
                properties[name] = {"type": "string", **self.strings()}
        schema: Schema = {"type": "object"}
        if properties:
            schema["properties"] = properties
        if self.wrong(2):
            schema[self.random.choice(["minProperties", "maxProperties"])] = 1
        if self.wrong():
            schema["required"] = ["name"]
        if self.wrong():
            schema["x-kubernetes-preserve-unknown-fields"] = True
        return schema

    def node(self, depth: int, kind: str = "") -> Schema:
        """A node at this depth."""
        random = self.random
        if not kind:
            shallow = ["string", "string", "integer", "number", "boolean", "int-or-string", "free"]
            kind = random.choice(shallow if depth > 3 else [*shallow, "object", "object", "object", "array", "array", "map", "embedded"])
        match kind:
            case "object":
                schema = self.object(depth)
            case "map":
                schema = {"type": "object", "additionalProperties": self.node(depth + 1)}
                if self.maybe(0.1):
                    schema["additionalProperties"] = random.choice([True, False] if self.wrong(5) else [True])
            case "array":
                schema = self.array(depth)
            case "embedded":
                schema = self.embedded(depth)
            case "int-or-string":
                schema = {"x-kubernetes-int-or-string": True}
                match random.randrange(4):
                    case 0:
                        schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
                    case 1:
                        schema["allOf"] = [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "^[0-9]"}]
                if self.wrong():
                    schema["type"] = random.choice(["string", "integer"])
            case "free":
                schema = {"x-kubernetes-preserve-unknown-fields": True}
                if self.maybe(0.5):
                    schema["type"] = "object"
            case "string":
                schema = {"type": "string", **self.strings()}
            case "boolean":
                schema = {"type": "boolean"}
            case _:
                schema = {"type": kind, **self.numbers(kind)}
        self.extras(schema, kind, depth)
        return schema

    def object(self, depth: int) -> Schema:
        """An object with properties."""
        random = self.random
        names = random.sample(NAMES, random.randint(0 if depth else 1, 3))
        properties = {name: self.node(depth + 1) for name in names}
        schema: Schema = {"type": "object", **({"properties": properties} if properties else {})}
        if names and self.maybe(0.3):
            schema["required"] = random.sample(names, 1) if not self.wrong(2) else ["missing"]
        if self.maybe(0.15):
            schema["x-kubernetes-preserve-unknown-fields"] = not self.wrong(2)
        if self.maybe(0.15):
            schema["x-kubernetes-map-type"] = random.choice(["atomic", "granular", *(["wrong", ""] if self.wrong(3) else [])])
        if self.maybe(0.1):
            schema["minProperties"] = 1
        if self.maybe(0.1):
            schema["maxProperties"] = random.choice([0, 1, 2])
        if self.wrong():
            schema["additionalProperties"] = random.choice([True, False, {"type": "integer"}])
        return schema

    def embedded(self, depth: int) -> Schema:
        """An embedded resource."""
        schema = self.object(depth)
        schema["x-kubernetes-embedded-resource"] = True
        properties = schema.get("properties", {})
        for name in ("apiVersion", "kind"):
            if name in properties and not self.wrong(3):
                properties[name] = {"type": "string"}
        if "metadata" in properties and not self.wrong(3):
            properties["metadata"] = self.metadata()
        if not properties and not self.wrong(3):
            schema["x-kubernetes-preserve-unknown-fields"] = True
        if self.wrong():
            schema["type"] = self.random.choice(["string", ""])
        return schema

    def array(self, depth: int) -> Schema:
        """A list, a set or a map."""
        random = self.random
        schema: Schema = {"type": "array"}
        if not self.wrong():
            schema["items"] = self.node(depth + 1)
        match random.randrange(5):
            case 0:
                schema["x-kubernetes-list-type"] = "atomic" if not self.wrong(2) else random.choice(["wrong", ""])
            case 1:
                schema["x-kubernetes-list-type"] = "set"
                if not self.wrong(5):
                    schema["items"] = {"type": random.choice(["string", "integer", "boolean"])}
                elif self.maybe(0.5):
                    schema["items"] = {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string"}}}
                if self.wrong():
                    schema.setdefault("items", {})["nullable"] = True
            case 2:
                schema["x-kubernetes-list-type"] = "map"
                keys = random.sample(["k", "l", "m"], random.choice([1, 1, 2]))
                properties: dict[str, Schema] = {key: {"type": random.choice(["string", "integer", "boolean"])} for key in keys}
                properties["v"] = self.node(depth + 2)
                item: Schema = {"type": "object", "properties": properties}
                for key in keys:
                    if self.maybe(0.4):
                        properties[key]["default"] = {"string": "a", "integer": 1, "boolean": True}[properties[key]["type"]]
                    elif not self.wrong(3):
                        item.setdefault("required", []).append(key)
                    if self.wrong():
                        properties[key]["nullable"] = True
                    if self.wrong():
                        properties[key] = self.node(depth + 2)
                schema["items"] = item
                schema["x-kubernetes-list-map-keys"] = keys
                if self.wrong():
                    schema["x-kubernetes-list-map-keys"] = random.choice([[], [keys[0], keys[0]], ["gone"], [*keys, "gone"]])
                if self.wrong():
                    schema["items"] = random.choice([{"type": "string"}, {}, {"type": "object"}])
                if self.wrong():
                    item["nullable"] = True
        if self.wrong():
            schema["x-kubernetes-list-map-keys"] = ["k"]
        if self.maybe(0.1):
            schema["minItems"] = 1
        if self.maybe(0.1):
            schema["maxItems"] = random.choice([0, 1, 2])
        if self.maybe(0.03) or self.wrong():
            schema["uniqueItems"] = not self.maybe(0.5) if self.wrong(5) else False
        return schema

    def strings(self) -> Schema:
        """Checks of a string."""
        random = self.random
        schema: Schema = {}
        if self.maybe(0.2):
            schema["format"] = random.choice(FORMATS)
        if self.maybe(0.1):
            schema["pattern"] = random.choice(PATTERNS) if self.wrong(10) else random.choice(["^a", "b+$", r"\d+", "^[a-z]{1,3}$"])
        if self.maybe(0.1):
            schema["minLength"] = random.choice([0, 1, 2])
        if self.maybe(0.1):
            schema["maxLength"] = random.choice([0, 1, 3])
        if self.maybe(0.1):
            schema["enum"] = random.sample(TEXTS, 2)
        return schema

    def numbers(self, kind: str) -> Schema:
        """Checks of a number."""
        random = self.random
        schema: Schema = {}
        if self.maybe(0.2):
            schema["format"] = (
                random.choice(["int32", "int64"] if kind == "integer" else ["float", "double"])
                if not self.wrong(3)
                else random.choice(FORMATS)
            )
        bounds = [0, 1, 5, -1] if kind == "integer" else [0, 1, 0.5, -2.5, 5]
        if self.wrong():
            bounds = list(NUMBERS)
        if self.maybe(0.2):
            schema["minimum"] = random.choice(bounds)
            if self.maybe(0.3):
                schema["exclusiveMinimum"] = True
        if self.maybe(0.2):
            schema["maximum"] = random.choice(bounds)
            if self.maybe(0.3):
                schema["exclusiveMaximum"] = True
        if self.maybe(0.1):
            schema["multipleOf"] = random.choice([2, 5, 1] if kind == "integer" else [0.5, 2, 0.1])
        if self.maybe(0.1):
            schema["enum"] = random.sample(bounds, 2)
        return schema

    def extras(self, schema: Schema, kind: str, depth: int) -> None:
        """What any node may have."""
        random = self.random
        if self.maybe(0.12) and depth:
            schema["nullable"] = True
        if self.maybe(0.2) and (depth or self.wrong()):
            schema["default"] = self.value(schema)
        if self.maybe(0.08):
            schema["description"] = random.choice(TEXTS)
        if self.maybe(0.04):
            schema["title"] = "T"
        if self.maybe(0.03):
            schema["example"] = random.choice([1, "a", {"a": 1}])
        if self.maybe(0.03):
            schema["externalDocs"] = {"url": "https://a.b", "description": "d"}
        if self.maybe(0.1):
            self.junctor(schema, depth)
        if self.wrong(0.3):
            key, value = random.choice(
                [
                    ("id", "a"),
                    ("$ref", "#/a"),
                    ("definitions", {"a": {"type": "string"}}),
                    ("patternProperties", {"a": {"type": "string"}}),
                    ("dependencies", {"a": ["b"]}),
                    ("additionalItems", True),
                    ("additionalItems", False),
                    ("items", [{"type": "string"}]),
                    ("$schema", "http://json-schema.org/draft-04/schema#"),
                    ("type", "null"),
                    ("type", "foo"),
                    ("type", ""),
                    ("x-kubernetes-int-or-string", True),
                    ("x-kubernetes-embedded-resource", True),
                    ("x-kubernetes-preserve-unknown-fields", False),
                    ("x-kubernetes-list-type", "map"),
                    ("x-kubernetes-map-type", "atomic"),
                    ("unknown", 1),
                    ("additionalProperties", {"type": "string"}),
                    ("properties", {"a": {"type": "string"}}),
                    ("items", {"type": "string"}),
                    ("uniqueItems", True),
                    ("minLength", 1),
                    ("minimum", 1),
                    ("pattern", "("),
                    ("required", ["a"]),
                    ("enum", ["a", "a"]),
                    ("enum", []),
                    ("enum", [None, 1]),
                    ("format", "date"),
                    ("minLength", -1),
                    ("maxItems", -1),
                    ("required", ["a", "a"]),
                    ("multipleOf", 0),
                    ("multipleOf", -1),
                ]
            )
            schema[key] = value

    def junctor(self, schema: Schema, depth: int) -> None:
        """Checks that are combined."""
        key = self.random.choice(["allOf", "anyOf", "oneOf", "not"])
        branches = [self.branch(schema, depth) for _ in range(self.random.choice([1, 2, 2]))]
        schema[key] = branches[0] if key == "not" else branches

    def branch(self, schema: Schema, depth: int) -> Schema:
        """One of them: checks without structure."""
        random = self.random
        result: Schema = {}
        properties = schema.get("properties") or {}
        if properties and self.maybe(0.6):
            name = random.choice(list(properties)) if not self.wrong(3) else "gone"
            if self.maybe(0.5):
                result["required"] = [name]
            if self.maybe(0.7) and name != "metadata":
                result["properties"] = {name: self.branch(properties.get(name, {}), depth + 1)}
        elif schema.get("type") == "array" and isinstance(schema.get("items"), dict) and self.maybe(0.6):
            result["items"] = self.branch(schema["items"], depth + 1)
        else:
            match schema.get("type"):
                case "string":
                    result |= self.strings()
                case "integer" | "number":
                    result |= self.numbers(schema["type"])
                case "object":
                    result |= random.choice([{"minProperties": 1}, {"maxProperties": 1}, {"required": ["a"]}])
                case "array":
                    result |= random.choice([{"minItems": 1}, {"maxItems": 1}])
                case _:
                    result |= random.choice([{"pattern": "^a"}, {"minimum": 1}, {"enum": [1, "a"]}])
        if self.wrong():
            key, value = random.choice(
                [
                    ("type", "string"),
                    ("default", 1),
                    ("nullable", True),
                    ("description", "x"),
                    ("title", "x"),
                    ("additionalProperties", True),
                    ("additionalProperties", False),
                    ("additionalProperties", {"minLength": 1}),
                    ("x-kubernetes-int-or-string", True),
                    ("x-kubernetes-preserve-unknown-fields", True),
                    ("x-kubernetes-preserve-unknown-fields", False),
                    ("x-kubernetes-list-type", "set"),
                    ("x-kubernetes-map-type", "atomic"),
                    ("properties", {"metadata": {}}),
                    ("items", {"minLength": 1}),
                    ("x-kubernetes-embedded-resource", True),
                    ("pattern", "("),
                    ("example", 1),
                    ("format", "made-up"),
                    ("x-kubernetes-list-map-keys", ["a"]),
                    ("uniqueItems", True),
                    ("$ref", "#/a"),
                ]
            )
            result[key] = value
        if self.maybe(0.1):
            result.setdefault("not", self.branch(schema, depth + 2) if depth < 4 else {"enum": [1]})
        return result

    # ------------------------------------------------------------------------------------------------------------ values

    def value(self, schema: Schema, depth: int = 0) -> Any:
        """A value for a node: fitting, but for faults."""
        random = self.random
        if self.wrong():
            return random.choice(
                [
                    None,
                    1,
                    "a",
                    True,
                    1.5,
                    [],
                    {},
                    {"a": 1},
                    [1],
                    {"unknown": {"x": None}},
                    [None],
                    2**63 - 1,
                    {"kind": 1, "metadata": {"x": 1, "name": "a", "labels": {"a": 1}}},
                ]
            )
        if schema.get("nullable") and self.maybe(0.15):
            return None
        if schema.get("enum") and not self.wrong(2):
            return random.choice(schema["enum"])
        if schema.get("x-kubernetes-int-or-string"):
            return random.choice([1, "a", "5%", 0, "1"])
        match schema.get("type"):
            case "object":
                return self.fields(schema, depth)
            case "array":
                items = schema.get("items")
                result = [self.value(items if isinstance(items, dict) else {}, depth + 1) for _ in range(random.choice([0, 1, 1, 2, 3]))]
                if result and self.wrong():
                    result.append(result[0])
                return result
            case "string":
                form = schema.get("format", "")
                good = GOOD.get(form)
                return good if good is not None and not self.wrong(5) else random.choice(TEXTS)
            case "integer":
                return random.choice([0, 1, 2, 5, 10, -1, 3]) if not self.wrong(2) else random.choice(NUMBERS)
            case "number":
                return random.choice([0, 1, 0.5, 2, 2.5, 3]) if not self.wrong(2) else random.choice(NUMBERS)
            case "boolean":
                return self.maybe(0.5)
        return random.choice([1, "a", {"a": {"b": 1}}, [1, {"a": 1}], {"a": None}, True])

    def fields(self, schema: Schema, depth: int) -> dict[str, Any]:
        """The fields of an object."""
        random = self.random
        result: dict[str, Any] = {}
        for name, child in (schema.get("properties") or {}).items():
            required = name in (schema.get("required") or ())
            if (required and not self.wrong(2)) or self.maybe(0.7 if depth < 4 else 0.4):
                result[name] = self.value(child, depth + 1)
        additional = schema.get("additionalProperties")
        if additional not in (None, False):
            for name in random.sample(["p", "q", "r.s", "a/b"], random.choice([0, 1, 2])):
                result[name] = self.value(additional if isinstance(additional, dict) else {}, depth + 1)
        if schema.get("x-kubernetes-embedded-resource"):
            for name, value in (("apiVersion", "v1"), ("kind", "Pod")):
                if not self.wrong(3):
                    result[name] = value
                elif self.maybe(0.5):
                    result[name] = random.choice(["", "a/b/c", "a b", 1, None, "A"])
            if self.maybe(0.6):
                result["metadata"] = self.embedded_metadata()
            elif "metadata" in result and not isinstance(result["metadata"], dict) and not self.wrong(5):
                del result["metadata"]
        if schema.get("x-kubernetes-preserve-unknown-fields") and self.maybe(0.5):
            result["free"] = random.choice([1, {"a": {"b": None}}, [{"x": 1}]])
        if self.wrong(2):
            result[random.choice(["zz", "unknown", "y.z"])] = random.choice([1, {"a": 1}, None, [{"a": 1}]])
        return result

    def embedded_metadata(self) -> Any:
        """Metadata of something embedded."""
        random = self.random
        result: dict[str, Any] = {"name": "n"} if self.maybe(0.7) else {}
        if self.wrong(5):
            name, value = random.choice(
                [
                    ("name", 1),
                    ("labels", {"a": 1}),
                    ("labels", {"a": "b"}),
                    ("x", 1),
                    ("finalizers", ["a"]),
                    ("name", "A_"),
                    ("labels", {"-": "b"}),
                    ("generateName", "x"),
                    ("creationTimestamp", None),
                    ("creationTimestamp", "x"),
                    ("namespace", "d"),
                    ("annotations", {"a": None}),
                    ("ownerReferences", [{"x": 1}]),
                    ("ownerReferences", [{"uid": 1}]),
                    ("finalizers", None),
                    ("labels", []),
                    ("name", ""),
                ]
            )
            result[name] = value
        return result


GOOD = {
    "date-time": "2020-01-01T00:00:00Z",
    "date": "2020-01-01",
    "duration": "1h",
    "email": "a@b.cd",
    "ipv4": "1.2.3.4",
    "ipv6": "::1",
    "cidr": "10.0.0.0/8",
    "mac": "00:00:5e:00:53:01",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "uuid4": "57b73598-8764-4ad0-a76a-679bb6640eb1",
    "byte": "YWJj",
    "hostname": "a.b",
    "uri": "https://a.b",
    "isbn": "0-306-40615-2",
    "hexcolor": "#ffffff",
    "bsonobjectid": "507f1f77bcf86cd799439011",
    "ssn": "123-45-6789",
    "rgbcolor": "rgb(1,2,3)",
}
