"""The reflector's states, what can happen to it, and what follows for the base. The transitions are in `machine`.

::

               Rested                  Opened                 end of the initial events
    Resting ----------->  Asking  ------------>  Collecting  --------------------------+
       ^                    | refused               | silent, or refused in the stream   |
       |                    v                       v                                    v
       |                  Paging  <-----------------+                                 Watching <----+
       |                    | last page             Opened                               |  |       |
       |                    +------->  Resuming  ------------------------------------->--+  | event, bookmark
       |                                  ^  ended, after it has been of use               |  +------+
       |                                  +------------------------------------------------+
       +--- whatever failed, from any state; each knows where it goes on

`Asking`, `Collecting`: the *streaming list*, one watch that begins with every object there is and goes on with what changes.
`Paging`, `Resuming`: for a server that does not have it, the list in pages, then a watch from the list's version.
`Watching`: the same for both.

A failure ends nothing. Where the version that was reached is still good, the watch resumes from it; where it is not (410 Expired, or a
version that goes backwards), everything is listed anew, into a collection of its own that replaces the base in one step. So the base never
shows half a list.

https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

import msgspec

from setpoint.api import ApiError
from setpoint.cache.entry import Entry, Version
from setpoint.objects import Request

Found: TypeAlias = dict[Request, Entry]
"""What a list in progress has brought so far. It belongs to its state alone, which therefore fills it in place."""

PAGE_SIZE = 500


# ---- states


class Asking(msgspec.Struct, frozen=True):
    """A streaming list has been asked for; the server has not accepted it yet."""

    name: ClassVar[str] = "Listing"


class Collecting(msgspec.Struct, frozen=True):
    """A streaming list runs: its events are the objects there are, until a bookmark ends them. The base still shows what it did."""

    found: Found
    name: ClassVar[str] = "Listing"


class Paging(msgspec.Struct, frozen=True):
    """A page of the list has been asked for. `version` is the first page's: every page shows the collection as it was then.

    `limit` is 0 where the whole list is asked for at once, because a list in pages took longer than the server remembers.
    """

    found: Found
    limit: int = PAGE_SIZE
    continue_: str = ""
    version: Version = ""
    name: ClassVar[str] = "Listing"


class Resuming(msgspec.Struct, frozen=True):
    """A watch from `version` has been asked for; the server has not accepted it yet. The base is at that version."""

    version: Version
    name: ClassVar[str] = "Resuming"


class Watching(msgspec.Struct, frozen=True):
    """A watch runs, and the base is at `version`.

    `seen` is the newest version that this very stream has shown, None before its first: within a stream versions never fall, while the
    first events of a resumed one may repeat what is known.
    """

    version: Version
    seen: Version | None = None
    name: ClassVar[str] = "Watching"


class Resting(msgspec.Struct, frozen=True):
    """Something failed: a pause of `seconds`, then on with `then`."""

    then: Asking | Paging | Resuming
    seconds: float
    reason: str
    served: bool = True
    """False where the server says that it has no such kind, as before a CustomResourceDefinition is there."""

    @property
    def name(self) -> str:
        """`BackingOff`, or `NotServed`."""
        return "BackingOff" if self.served else "NotServed"


State: TypeAlias = Asking | Collecting | Paging | Resuming | Watching | Resting


# ---- what happens


class Opened(msgspec.Struct, frozen=True):
    """The server accepted the watch that was asked for."""


class Page(msgspec.Struct, frozen=True):
    """A page of the list came."""

    items: list[bytes]
    version: Version
    continue_: str = ""


class Frames(msgspec.Struct, frozen=True):
    """The stream brought these frames."""

    lines: list[bytes]


class Ended(msgspec.Struct, frozen=True):
    """The server ended the stream, as it does when its time is up; it had run for `seconds`."""

    seconds: float


class Broke(msgspec.Struct, frozen=True):
    """The stream was lost."""

    reason: str


class Silent(msgspec.Struct, frozen=True):
    """Nothing was heard for so many seconds: the peer may be gone without a word."""

    seconds: float


class Failed(msgspec.Struct, frozen=True):
    """A request was refused, or got no answer."""

    error: ApiError


class Rested(msgspec.Struct, frozen=True):
    """The pause is over."""


Input: TypeAlias = Opened | Page | Frames | Ended | Broke | Silent | Failed | Rested


# ---- what follows for the base


class Put(msgspec.Struct, frozen=True, gc=False):
    """The object is there, like this. `type` is the event's, for observers."""

    key: Request
    entry: Entry
    type: str


class Remove(msgspec.Struct, frozen=True, gc=False):
    """The object is gone, or no longer selected; `entry` is its last state."""

    key: Request
    entry: Entry


class Advance(msgspec.Struct, frozen=True, gc=False):
    """Nothing else happened up to this version."""

    version: Version


class Replace(msgspec.Struct, frozen=True):
    """The whole collection, as it is at `version`. `anew` where it does not continue the history that was known."""

    found: Found
    version: Version
    anew: bool = False


class Skip(msgspec.Struct, frozen=True):
    """An object that cannot be read is passed over."""

    key: Request
    reason: str


Effect: TypeAlias = Put | Remove | Advance | Replace | Skip
