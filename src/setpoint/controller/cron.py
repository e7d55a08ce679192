"""`Cron`: a source that ticks by the wall clock, as crontab writes it."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from setpoint.world import World

from .sources import Keys, Schedule, Ticks

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


class Cron(Schedule):
    """``controller.source(Cron("0 3 * * *", timezone="Europe/Berlin"))``: a tick whenever the wall clock there says so.

    The expression has crontab's five fields (minute, hour, day of month, month, day of week; names, ranges, lists and steps), and ``L`` as
    day of month for its last day, ``MON#1`` as day of week for the first Monday; a sixth field, in front, is the second.

    As with Debian's cron, a fixed time that the clock leaps over when summer begins ticks right after the leap, and one that comes twice
    when it ends ticks once; an hour or minute of ``*`` goes by real time. Ticks that the machine slept through make one tick, soon
    after it has woken up. Ticks while the process was down need none: every object is reconciled at its start.

    Raises `ValueError` for an expression that cannot be read or never comes true, and for an unknown time zone.
    """

    def __init__(self, expression: str, *, timezone: str | tzinfo = "UTC", keys: Keys | None = None, name: str | None = None) -> None:
        if not isinstance(expression, str):
            raise TypeError(f"Cron takes an expression such as '*/5 * * * *', not {expression!r}")
        if not isinstance(timezone, str | tzinfo):  # None would be the machine's own, wherever that is
            raise TypeError(f"Cron(timezone=...) takes a name such as Europe/Berlin, or a tzinfo, not {timezone!r}")
        super().__init__(f"cron {expression}" if name is None else name, keys)
        self.expression: str = expression
        self.timezone: tzinfo = _zone(timezone) if isinstance(timezone, str) else timezone
        self.after(datetime(2026, 1, 1, tzinfo=UTC))

    def after(self, moment: datetime) -> datetime:
        """The first tick later than that moment, in UTC."""
        from cronsim import CronSim, CronSimError  # only programs that have a schedule pay for it

        try:
            for tick in CronSim(self.expression, moment.astimezone(self.timezone)):
                found = tick.astimezone(UTC)
                if found > moment:  # not so at the end of summer, in the hour that comes twice
                    return found
        except CronSimError as error:
            raise ValueError(f'{self.expression!r} is no cron expression: {error}; write "minute hour day month weekday"') from error
        raise ValueError(f"the cron expression {self.expression!r} never comes true")

    def begin(self, world: World) -> Ticks:
        """Its ticks from now on."""
        return _WallClock(self, world)


class _WallClock:
    def __init__(self, cron: Cron, world: World) -> None:
        self._cron = cron
        self._clock = world.clock
        self._seen = self._due = self._clock.now()
        self.fired()

    def left(self) -> float:
        now = self._clock.now()
        if now < self._seen:  # the clock was put back: what it says now counts
            self._due = self._cron.after(now)
        self._seen = now
        return (self._due - now).total_seconds()

    def fired(self) -> None:
        self._seen = self._clock.now()
        self._due = self._cron.after(self._seen)


def _zone(name: str) -> ZoneInfo:
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError) as error:  # not found is a KeyError
        raise ValueError(f"{name!r} is no time zone: write it as Europe/Berlin") from error
    except KeyError as error:
        raise ValueError(
            f"there is no time zone {name!r} here: write it as Europe/Berlin; if that is right, the machine has no time zones, "
            "which the package tzdata brings"
        ) from error
