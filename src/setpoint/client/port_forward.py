"""A connection to a port of a pod, over a websocket.

The kubelet gives each port two channels, one for the data and one for what went wrong, and names the port in the first message of each.
There is no way to end only one direction: what is closed is closed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from setpoint.api import Duplex, StreamBroken

PROTOCOLS = ("v4.channel.k8s.io",)
_DATA, _ERROR = 0, 1
_PIECE = 32 * 1024


class PortStream:
    """One connection to a port. `read()` gives what has come, `b""` once the other side has ended; `async for` goes on until then.

    Both raise `StreamBroken` where the port cannot be reached or the connection is lost.
    """

    def __init__(self, duplex: Duplex) -> None:
        self._duplex = duplex
        self._named: dict[int, None] = {}
        self._ended = False

    async def read(self) -> bytes:
        """What has come, at least one byte; `b""` at the end."""
        while not self._ended:
            message = await self._duplex.receive()
            if message is None:
                self._ended = True
            elif (data := self._data_in(message)) is not None:
                return data
        return b""

    async def write(self, data: bytes, /) -> None:
        """Sends all of it."""
        for start in range(0, len(data), _PIECE):
            await self._duplex.send(bytes((_DATA,)) + data[start : start + _PIECE])

    async def close(self) -> None:
        """Ends the connection."""
        self._ended = True
        await self._duplex.close()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while data := await self.read():
            yield data

    def _data_in(self, message: bytes) -> bytes | None:
        channel, rest = message[:1], message[1:]
        if channel not in (bytes((_DATA,)), bytes((_ERROR,))):
            raise StreamBroken(f"this is no message about a port: {message[:80]!r}")
        if channel[0] not in self._named:
            self._named[channel[0]] = None  # the first message of each channel is the port's number
            return None
        if channel[0] == _ERROR and rest:
            raise StreamBroken(f"the port cannot be reached: {rest.decode(errors='replace').strip()}")
        return rest or None
