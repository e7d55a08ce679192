"""The reflector's transitions. Nothing here waits, reads or sends: `Machine.step` takes what happened, and says what follows."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from setpoint.api import ApiError, Status
from setpoint.api.status import Expired, NotFound, error_of
from setpoint.api.watch import INITIAL_EVENTS_END, Frame, decode_frame
from setpoint.cache.entry import Entry, Version, is_older, parse_version
from setpoint.cache.form import WHOLE, Form, with_kind
from setpoint.cache.states import (
    Advance,
    Asking,
    Broke,
    Collecting,
    Effect,
    Ended,
    Failed,
    Found,
    Frames,
    Input,
    Opened,
    Page,
    Paging,
    Put,
    Remove,
    Replace,
    Rested,
    Resting,
    Resuming,
    Silent,
    Skip,
    State,
    Watching,
)
from setpoint.objects import KindInfo, Request
from setpoint.objects.codec import DecodeError

SHORTEST_PAUSE = 0.2
LONGEST_PAUSE = 30.0
USEFUL_LIFE = 1.0
"""Seconds after which a watch that ends without an event is none that a server refuses to keep."""
FOREIGN_HISTORY = 5
"""So many lists in a row that are older than what is known come from a server whose history was replaced, not from one that lags."""


class Machine:
    """The state, what led to it as far as that matters, and the transitions.

    `jitter` makes a pause of given length a little longer or shorter, so that a thousand clients do not come back at once. `form` says
    what is kept of an object: it is reduced to that as it comes, so that not even a list is held whole.
    """

    def __init__(self, info: KindInfo, jitter: Callable[[float], float], form: Form = WHOLE) -> None:
        self.info = info
        self._form = form
        self.state: State = Asking()
        self.reason = ""
        self.base: Version | None = None
        """The version that the base has reached; None before the first complete list."""
        self._jitter = jitter
        self._failures = 0
        """Since a watch was last of use: a list alone ends no trouble, since the watch after it may fail again and again."""
        self._lists_behind = 0
        self._can_stream_lists = True

    def step(self, input: Input) -> list[Effect]:
        """Moves to the next state; gives what follows for the base, in order. An input that a state does not expect raises `ValueError`."""
        state = self.state
        match state, input:
            case Resting(), Rested():
                self._go(state.then)
                return []
            case Asking(), Opened():
                self._go(Collecting({}))
                return []
            case Resuming(), Opened():
                self._go(Watching(state.version))
                return []
            case Collecting(), Frames():
                return self._collect(state, input.lines)
            case Watching(), Frames():
                return self._follow(state, input.lines)
            case Paging(), Page():
                return self._turn(state, input)
            case Asking(), Failed(error):
                self._list_refused(error)
                return []
            case Paging(), Failed(error):
                self._page_refused(state, error)
                return []
            case Resuming(), Failed(error):
                self._watch_refused(state.version, error)
                return []
            case Collecting(), Silent():
                # A server that does not know streaming lists sends the objects, and never says that these were all.
                self._page_instead("the server did not end the initial events of a streaming list")
                return []
            case Collecting(), (Ended() | Broke()):
                self._rest(Asking(), f"the list was cut short: {_told(input)}")
                return []
            case Watching(), Ended(seconds) if state.seen is not None or seconds >= USEFUL_LIFE:
                self._failures = 0
                self._go(Resuming(state.version))
                return []
            case Watching(), Silent() if self._failures:
                # Twice in a row: it may wait for a version that its history, restored from a backup, has not reached again.
                self._rest(self._start(), _told(input))
                return []
            case Watching(), (Ended() | Broke() | Silent()):
                self._rest(Resuming(state.version), _told(input))
                return []
        raise ValueError(f"{type(input).__name__} makes no sense in state {type(state).__name__}")

    def restart(self, reason: str) -> None:
        """Lists everything anew after a pause, from any state."""
        self._rest(self._start(), reason)

    # lists

    def _collect(self, state: Collecting, lines: list[bytes]) -> list[Effect]:
        effects: list[Effect] = []
        for at, line in enumerate(lines):
            frame = self._frame(line, effects)
            if frame is None:
                continue
            if frame.type == "BOOKMARK":
                mark = self._bookmark(frame.object, effects)
                if mark is not None and mark.ends_initial_events:
                    then = Watching(mark.version, mark.version)
                    if self._complete(state.found, mark.version, then, effects) and at + 1 < len(lines):
                        effects += self._follow(then, lines[at + 1 :])
                    return effects
            elif frame.type == "ERROR":
                self._list_refused(_error(frame.object))
                return effects
            else:
                read = self._read(frame.object, effects)
                if read is None:
                    continue
                key, entry = read
                if frame.type == "DELETED":
                    state.found.pop(key, None)
                else:
                    state.found[key] = entry
        return effects

    def _turn(self, state: Paging, page: Page) -> list[Effect]:
        effects: list[Effect] = []
        for item in page.items:
            read = self._read(with_kind(item, self.info), effects)
            if read is not None:
                state.found[read[0]] = read[1]
        version = state.version or page.version
        if page.continue_:
            self._go(Paging(state.found, state.limit, page.continue_, version))
        else:
            self._complete(state.found, version, Resuming(version), effects)
        return effects

    def _complete(self, found: Found, version: Version, then: Resuming | Watching, effects: list[Effect]) -> bool:
        """Takes a complete list, unless it is older than what is known already."""
        behind = is_older(version, self.base)
        if behind:
            self._lists_behind += 1
            if self._lists_behind < FOREIGN_HISTORY:
                self._rest(self._start(), f"the server lists version {version}, which is older than {self.base}, already seen")
                return False
        effects.append(Replace(found, version, anew=behind))
        self.base = version
        self._lists_behind = 0
        self._go(then)
        return True

    def _list_refused(self, error: ApiError) -> None:
        """A refused streaming list is asked for in pages, unless the refusal would be the same then."""
        if isinstance(error, NotFound):
            self._not_served(error)
        elif error.code == 501 or (400 <= error.code < 500 and error.code not in (401, 403, 408, 410, 429)):
            self._page_instead(f"the server has no streaming lists: {error.message}")
        elif error.code == 403:
            # The right to list without the right to watch is no reason to know nothing.
            self._go(Paging({}), error.message)
        else:
            self._rest(Asking(), str(error), error.retry_after)

    def _page_refused(self, state: Paging, error: ApiError) -> None:
        if isinstance(error, NotFound):
            self._not_served(error)
        elif isinstance(error, Expired) and state.continue_:
            self._rest(Paging({}, limit=0), "the list took longer than the server remembers")
        elif state.continue_ and error.code == 400:
            self._rest(Paging({}), str(error))
        elif error.code in (0, 429) or error.code >= 500:
            # What the pages brought so far is still the collection as it was at their version.
            self._rest(state, str(error), error.retry_after)
        else:
            self._rest(self._start(), str(error), error.retry_after)

    def _page_instead(self, reason: str) -> None:
        self._can_stream_lists = False
        self._go(Paging({}), reason)

    def _not_served(self, error: ApiError) -> None:
        # What is known stays known: an error never means that objects are gone.
        self._rest(self._start(), str(error), error.retry_after, served=False)

    def _start(self) -> Asking | Paging:
        return Asking() if self._can_stream_lists else Paging({})

    # watches

    def _follow(self, state: Watching, lines: list[bytes]) -> list[Effect]:
        """A batch of events. On the way, only the local names move; the state is set at the end of the batch, or where it breaks off."""
        effects: list[Effect] = []
        version, seen, useful = state.version, state.seen, False
        for line in lines:
            frame = self._frame(line, effects)
            if frame is None:
                continue
            if frame.type == "ERROR":
                self.base = version
                self._watch_refused(version, _error(frame.object))
                return effects
            effect = self._effect(frame, effects)
            if effect is None:
                continue
            event = effect.version if isinstance(effect, Advance) else effect.entry.version
            if is_older(event, seen) or (isinstance(effect, Advance) and is_older(event, version)):
                # A resumed stream may repeat events that are known, but a bookmark says where the server is now.
                self.base = version
                self._rest(self._start(), f"the stream went backwards, from version {seen or version} to {event}")
                return effects
            seen, useful = event, True
            if not is_older(event, version):  # A resumed stream may repeat what is known.
                version = event
                effects.append(effect)
        if useful:
            self._failures = 0
        self.base = version
        self.state = Watching(version, seen)
        return effects

    def _effect(self, frame: Frame, effects: list[Effect]) -> Put | Remove | Advance | None:
        if frame.type == "BOOKMARK":
            mark = self._bookmark(frame.object, effects)
            return None if mark is None else Advance(mark.version)
        read = self._read(frame.object, effects)
        if read is None:
            return None
        return Remove(*read) if frame.type == "DELETED" else Put(*read, frame.type)

    def _watch_refused(self, version: Version, error: ApiError) -> None:
        match error:
            case NotFound():
                self._not_served(error)
            case Expired() if self._failures == 0:
                self._failures += 1
                self._go(self._start(), f"version {version} is older than the server remembers")
            case Expired():
                self._rest(self._start(), f"version {version} is older than the server remembers")
            case _ if error.code == 400:
                self._rest(self._start(), str(error))
            case _:
                self._rest(Resuming(version), str(error), error.retry_after)

    # common

    def _go(self, state: State, reason: str = "") -> None:
        self.state, self.reason = state, reason

    def _rest(self, then: Asking | Paging | Resuming, reason: str, at_least: float | None = None, *, served: bool = True) -> None:
        pause = self._jitter(min(SHORTEST_PAUSE * 2.0 ** min(self._failures, 16), LONGEST_PAUSE))
        self._failures += 1
        self._go(Resting(then, max(pause, at_least or 0.0), reason, served), reason)

    def _frame(self, line: bytes, effects: list[Effect]) -> Frame | None:
        try:
            return decode_frame(line)
        except msgspec.MsgspecError as error:
            effects.append(Skip(Request("", ""), f"not a watch event: {error}"))
            return None

    def _bookmark(self, data: bytes, effects: list[Effect]) -> _Bookmark | None:
        try:
            return _decode_bookmark(data)
        except msgspec.MsgspecError as error:
            effects.append(Skip(Request("", ""), f"not a bookmark: {error}"))
            return None

    def _read(self, data: bytes, effects: list[Effect]) -> tuple[Request, Entry] | None:
        try:
            return self._form.read(data)
        except DecodeError as error:
            effects.append(Skip(error.key, str(error)))
            return None


def _told(input: Ended | Broke | Silent) -> str:
    match input:
        case Ended(seconds):
            return f"the server ended the stream after {seconds:.1f} s"
        case Broke(reason):
            return reason
        case Silent(seconds):
            return f"nothing was heard from the server for {seconds:g} s"


class _BookmarkMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _Bookmark(msgspec.Struct):
    metadata: _BookmarkMeta

    @property
    def version(self) -> Version:
        return parse_version(self.metadata.resource_version)

    @property
    def ends_initial_events(self) -> bool:
        return (self.metadata.annotations or {}).get(INITIAL_EVENTS_END) == "true"


_decode_bookmark = msgspec.json.Decoder(_Bookmark).decode
_decode_status = msgspec.json.Decoder(Status, strict=False).decode


def _error(data: bytes) -> ApiError:
    """The error that an ERROR event carries."""
    try:
        return error_of(_decode_status(data))
    except msgspec.MsgspecError:
        return error_of(Status(message=data[:500].decode(errors="replace"), reason="InternalError", code=500))
