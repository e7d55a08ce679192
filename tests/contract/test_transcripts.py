"""Requests, answered as the real server answers them: status, messages, causes, defaults, pruning, versions, managedFields, warnings.

The real server's answers are in `golden/`, so that the embedded one is judged where no real one is at hand. With a real one at hand,
`SETPOINT_RECORD_CONTRACT=1` records them anew.
"""

from __future__ import annotations

import pytest

from .scripts import SCRIPTS
from .site import Plane, Site
from .transcript import answers, judge


@pytest.mark.parametrize("script", list(SCRIPTS))
def test_what_is_answered(plane: Plane, script: str) -> None:
    async def speak(site: Site) -> None:
        judge(plane, script, await answers(site, SCRIPTS[script]))

    plane.run(speak)
