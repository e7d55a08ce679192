"""Fakes of the systems outside the cluster that guards look after. They survive the crashes of a controller.

What a user asks of them may be asked twice, as of a decent service on the web; `state` is what is out there.
"""

from typing import Any


class Dns:
    """Records by host."""

    def __init__(self) -> None:
        self.records: dict[str, str] = {}

    async def ensure(self, host: str, address: str) -> None:
        """The host has this address from now on."""
        self.records[host] = address

    async def remove(self, host: str) -> None:
        """There is no such host from now on."""
        self.records.pop(host, None)

    def state(self) -> dict[str, Any]:
        """All records."""
        return dict(sorted(self.records.items()))


class Storage:
    """Disks in zones, of which one is fuller than the others."""

    def __init__(self) -> None:
        self.zones: dict[str, dict[str, int]] = {"north": {"of-somebody-else": 10}, "south": {}}

    async def roomiest(self) -> str:
        """The zone with the fewest disks; the first of them by name."""
        return min(self.zones, key=lambda zone: (len(self.zones[zone]), zone))

    async def ensure(self, zone: str, disk: str, size: int) -> None:
        """There is such a disk from now on, of that size."""
        self.zones[zone][disk] = size

    async def remove(self, zone: str, disk: str) -> None:
        """There is no such disk in the zone from now on."""
        self.zones[zone].pop(disk, None)

    def state(self) -> dict[str, Any]:
        """The disks of each zone."""
        return {zone: dict(sorted(disks.items())) for zone, disks in self.zones.items()}


class MailingLists:
    """Lists and who is on them."""

    def __init__(self) -> None:
        self.lists: dict[str, list[str]] = {}

    async def members(self, name: str) -> list[str]:
        """Who is on the list; nobody, if there is no such list."""
        return sorted(self.lists.get(name, []))

    async def subscribe(self, name: str, address: str) -> None:
        """The address is on the list from now on, once."""
        members = self.lists.setdefault(name, [])
        if address not in members:
            members.append(address)

    async def unsubscribe(self, name: str, address: str) -> None:
        """The address is not on the list from now on; a list with nobody on it is none."""
        members = [each for each in self.lists.pop(name, []) if each != address]
        if members:
            self.lists[name] = members

    def state(self) -> dict[str, Any]:
        """All lists."""
        return {name: sorted(members) for name, members in sorted(self.lists.items())}


class Membership:
    """Which members, by their numbers, belong to a ring of servers."""

    def __init__(self) -> None:
        self.rings: dict[str, list[int]] = {}

    async def members(self, ring: str) -> list[int]:
        """The members of the ring."""
        return sorted(self.rings.get(ring, []))

    async def join(self, ring: str, member: int) -> None:
        """It belongs to the ring from now on."""
        members = self.rings.setdefault(ring, [])
        if member not in members:
            members.append(member)

    async def leave(self, ring: str, member: int) -> None:
        """It does not belong to the ring from now on; one without members is none."""
        members = [each for each in self.rings.pop(ring, []) if each != member]
        if members:
            self.rings[ring] = members

    def state(self) -> dict[str, Any]:
        """All rings."""
        return {ring: sorted(members) for ring, members in sorted(self.rings.items())}
