"""Recordings as oracles look at them: which run was for what, which process lives, who has made an object."""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.levelcheck.recording import AnyMoment, Changed, Died, Key, Recording, Rested, RunBegan, RunEnded, Wrote


def after_last_rest(recording: Recording) -> list[AnyMoment]:
    """What happened after the cluster had come to rest for the last time; nothing, if it never did."""
    for place in range(len(recording.moments) - 1, -1, -1):
        if isinstance(recording.moments[place], Rested):
            return recording.moments[place + 1 :]
    return []


def runs(recording: Recording) -> Iterator[tuple[RunBegan, RunEnded]]:
    """Those that have ended, in the order in which they did."""
    begun: dict[tuple[str, str], RunBegan] = {}
    for moment in recording.moments:
        if isinstance(moment, RunBegan):
            begun[moment.process, moment.run] = moment
        elif isinstance(moment, RunEnded) and (began := begun.pop((moment.process, moment.run), None)) is not None:
            yield began, moment


def dead(recording: Recording) -> dict[str, Died]:
    """Processes that are no more."""
    return {moment.process: moment for moment in recording.moments if isinstance(moment, Died)}


def by_controllers(recording: Recording) -> dict[int, Wrote]:
    """Revisions that the controllers made, with the writes that made them."""
    return {write.revision: write for write in recording.writes if write.revision}


def in_words(key: Key) -> str:
    """`deployments default/shop`: without the group, which nobody says."""
    resource = key.resource.partition(".")[0]
    return f"{resource} {key.namespace}/{key.name}" if key.namespace else f"{resource} {key.name}"


def run_in_words(began: RunBegan) -> str:
    """`webapp default/shop`."""
    return f"{began.site.who} {began.site.what}"


def changes_of(recording: Recording) -> dict[Key, list[Changed]]:
    """The history of each object since the user's first step."""
    found: dict[Key, list[Changed]] = {}
    for change in recording.changes:
        found.setdefault(change.key, []).append(change)
    return found
