"""Answers as YAML, as the real server writes it."""

from __future__ import annotations

from functools import cache
from typing import Any

import yaml


def as_yaml(value: Any) -> bytes:
    """The text of plain values."""
    text: bytes = yaml.dump(value, Dumper=_dumper(), allow_unicode=True, default_flow_style=False, encoding="utf-8", width=80)
    return text


@cache
def _dumper() -> type[yaml.SafeDumper]:
    """Writes strings as Go's library does: on lines of their own, or quoted twice where they would read as something else."""

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

        def represent_text(self, text: str) -> yaml.Node:
            tag = "tag:yaml.org,2002:str"
            plain: bool = self.resolve(yaml.ScalarNode, text, (True, False)) == tag  # type: ignore[no-untyped-call]  # the stubs have no types here
            return self.represent_scalar(tag, text, style="|" if "\n" in text else None if plain else '"')

    Dumper.add_representer(str, Dumper.represent_text)
    return Dumper
