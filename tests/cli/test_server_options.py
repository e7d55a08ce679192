"""What `setpoint server` is told wrongly is one sentence, and an exit code other than 0."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Cli


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--fault", "x"], 2, "there is no fault 'x'; there are 409, 410, 429"),
        (["--fault", "429:verb=lst"], 2, "there is no verb 'lst'; there are get, list"),
        (["--log", "everything"], 2, "--log takes requests, or requests=FILE, not 'everything'"),
        (["--host", "0.0.0.0"], 2, "listens on the loopback interface alone, not on 0.0.0.0"),
        (["--token-file", "nope"], 1, "the token file nope cannot be read: No such file or directory (--token-file)"),
        (["--token-file", "tokens.csv"], 1, "line 1 has 1 of the columns token, user, uid and groups"),
        (["--log", "requests=nope/x"], 1, "requests cannot be logged to nope/x: No such file or directory (--log)"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(
    cli: Cli, arguments: list[str], code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tokens.csv").write_text("only-a-token\n", encoding="utf-8")
    ended = cli("server", *arguments)
    assert ended.code == code
    assert said in ended.err.replace("\n", " ")
    assert "only-a-token" not in ended.err
