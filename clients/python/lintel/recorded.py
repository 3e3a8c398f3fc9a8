"""A series with what is known of the time between its readings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from typing import Any, Generic, Iterator, Mapping, Optional, Sequence
from zoneinfo import ZoneInfo

from .frames import pandas_module
from .moments import start_of
from .series import Reading, Series
from .tables import Item


@dataclass(frozen=True)
class Stretch:
    """A time of an item of which one thing is known. In an instant that is in none, nobody knows anything."""

    start: datetime
    #: The first instant that is not in it.
    stop: datetime
    #: "covered": somebody listened and the device was alive; else "silent", "not_listening", "paused" or "gap".
    state: str
    #: Why it was not covered: `lintel.coverage_reasons` has the words; None where it was.
    reason: Optional[str]
    #: How many events are missing, where the device tells.
    lost: Optional[int]

    @property
    def covered(self) -> bool:
        return self.state == "covered"


@dataclass(frozen=True)
class Day:
    """A day of the home's calendar. `listened`, what is `missing` and `unknown` add up to its `minutes`."""

    day: date
    #: 1,440; 1,380 and 1,500 where the clocks change.
    minutes: int
    #: Somebody listened and the device was alive: no reading means that nothing happened.
    listened: int
    #: Minutes by reason, those that there were.
    missing: Mapping[str, int]
    #: Nobody knows: before the item was first heard, behind what is known of it, or outside of what was asked for.
    unknown: int
    #: How many readings there are; None, and not 0, where there are none and nobody listened for a minute.
    readings: Optional[int]

    @property
    def complete(self) -> bool:
        """Whether somebody listened all day."""
        return self.listened == self.minutes


@dataclass(frozen=True)
class Recorded(Generic[Reading]):
    """The readings of an item from `since` until `until`, from old to new, with their coverage."""

    series: Series[Reading]
    item: Item
    #: The zone of its home; UTC where none is known.
    timezone: str
    since: datetime
    #: The first instant that is not in it.
    until: datetime
    readings: Sequence[Reading]
    #: From old to new, without overlaps, cut at `since` and `until`.
    coverage: Sequence[Stretch]

    def happened(self, start: datetime, stop: datetime) -> Optional[bool]:
        """Whether there is a reading from `start` until before `stop`: False where somebody listened all that time, None where nobody knows."""
        if any(start <= stamp < stop for stamp in self._stamps()):
            return True
        known = sum((_overlap(one, start, stop) for one in self.coverage if one.covered), timedelta())
        return False if known == stop - start else None

    def days(self) -> list[Day]:
        """Each day of the home's calendar from `since` until `until`. A stretch is rounded to minutes where it begins and ends."""
        zone = ZoneInfo(self.timezone)
        counts = Counter(stamp.astimezone(zone).date() for stamp in self._stamps())
        return [self._day(day, start, stop, counts[day]) for day, start, stop in self._calendar(zone)]

    def _calendar(self, zone: ZoneInfo) -> Iterator[tuple[date, datetime, datetime]]:
        if self.since >= self.until:
            return
        day = self.since.astimezone(zone).date()
        while (start := start_of(day, zone)) < self.until:
            stop = start_of(day + timedelta(days=1), zone)
            # A day that the zone skipped, as Samoa did 2011-12-30, has no time.
            if stop > start:
                yield day, start, stop
            day += timedelta(days=1)

    def _day(self, day: date, start: datetime, stop: datetime, readings: int) -> Day:
        minutes = _minutes(stop - start)
        listened, missing = 0, Counter[str]()
        for one in self.coverage:
            if one.stop <= start or one.start >= stop:
                continue
            count = _minutes(min(one.stop, stop) - start) - _minutes(max(one.start, start) - start)
            if one.covered or one.reason is None:
                listened += count
            elif count > 0:
                missing[one.reason] += count
        return Day(
            day=day,
            minutes=minutes,
            listened=listened,
            missing=dict(missing),
            unknown=minutes - listened - sum(missing.values()),
            readings=readings if readings > 0 or listened > 0 else None,
        )

    def frame(self) -> Any:
        """The readings as a pandas DataFrame by `stamp`, in the home's own time."""
        pandas = pandas_module()
        stamps = pandas.DatetimeIndex(list(self._stamps()), tz=timezone.utc, name="stamp").tz_convert(self.timezone)
        columns = list(self.series.fields)
        return pandas.DataFrame(list(self.readings), columns=["stamp", *columns])[columns].set_index(stamps)

    def missingness(self) -> Any:
        """The days as a pandas DataFrame, with a column of minutes for each reason. `readings` is missing where nobody listened."""
        pandas = pandas_module()
        days = self.days()
        reasons = sorted({reason for day in days for reason in day.missing})
        rows = [
            {
                "day": pandas.Timestamp(of.day),
                "minutes": of.minutes,
                "listened": of.listened,
                **{reason: of.missing.get(reason, 0) for reason in reasons},
                "unknown": of.unknown,
                "readings": of.readings,
            }
            for of in days
        ]
        columns = ["day", "minutes", "listened", *reasons, "unknown", "readings"]
        return pandas.DataFrame(rows, columns=columns).astype({"readings": "Int64"}).set_index("day")

    def __str__(self) -> str:
        days = self.days()
        minutes = _minutes(self.until - self.since)
        missing = sum((Counter(of.missing) for of in days), Counter[str]())
        listened = sum(of.listened for of in days)
        told = "".join(f", {reason} {count} min" for reason, count in missing.most_common())
        unknown = minutes - listened - sum(missing.values())
        more = f", unknown {unknown} min" if unknown > 0 else ""
        share = f"{100 * listened / minutes:.1f} %" if minutes > 0 else "0 min"
        zone = ZoneInfo(self.timezone)
        since, until = (at.astimezone(zone).isoformat(" ", "minutes") for at in (self.since, self.until))
        title = f"{self.item['itemname']}, {self.series.title.lower()}, {since} to {until}"
        return f"{title}: {len(self.readings)} readings; listened {share} of the time{told}{more}"

    def _stamps(self) -> Iterator[datetime]:
        for reading in self.readings:
            stamp: datetime = reading["stamp"]  # type: ignore[index]
            yield stamp


def in_order(newest_first: Sequence[Stretch], since: Optional[datetime], until: datetime) -> list[Stretch]:
    """Stretches from old to new, cut at both ends. One that changed between two pages may have come twice: none begins before the one before it ends."""
    found: list[Stretch] = []
    end = since
    for one in reversed(newest_first):
        start = one.start if end is None else max(one.start, end)
        stop = min(one.stop, until)
        if start > stop or (start == stop and (one.start < start or one.stop > stop)):
            continue
        found.append(Stretch(start, stop, one.state, one.reason, one.lost))
        end = stop
    return found


def _overlap(one: Stretch, start: datetime, stop: datetime) -> timedelta:
    return max(timedelta(), min(one.stop, stop) - max(one.start, start))


def _minutes(time: timedelta) -> int:
    """Whole minutes, halves up."""
    return (time + timedelta(seconds=30)) // timedelta(minutes=1)
