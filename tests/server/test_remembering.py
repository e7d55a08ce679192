"""What is judged again and again is judged once, and what is long is not kept for it."""

from __future__ import annotations

from setpoint.cluster.server.remembering import LONGEST, remembering


def test_a_text_is_judged_once_and_a_long_one_each_time_and_not_kept() -> None:
    judged: list[int] = []

    @remembering(4)
    def length(text: bytes, at: str) -> int:
        judged.append(len(text))
        return len(text)

    for _ in range(2):
        assert length(b"short", "here") == 5
        assert length(b"x" * LONGEST, "here") == LONGEST
        assert length(b"x" * (LONGEST + 1), "here") == LONGEST + 1
    assert judged == [5, LONGEST, LONGEST + 1, LONGEST + 1]
    assert length(b"short", "there") == 5  # elsewhere is another question
    assert judged[-1] == 5
