"""Times as the interface, the home and Python have them."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any, Mapping, Union
from zoneinfo import ZoneInfo

#: A day of the home's calendar (`date`, or "2026-11-01"), or an instant (an aware `datetime`, or "2026-11-01T08:00:00+01:00").
Moment = Union[date, datetime, str]

_epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)


def from_ms(stamp_ms: int) -> datetime:
    """Unix milliseconds as an instant, exactly."""
    return _epoch + timedelta(milliseconds=stamp_ms)


def to_ms(instant: datetime) -> int:
    """An instant as unix milliseconds, those that have begun."""
    return (instant - _epoch) // timedelta(milliseconds=1)


def instant_of(moment: Moment, zone: ZoneInfo) -> datetime:
    """The instant that is meant: of a day its first one in that zone. Raises ValueError for a time without offset."""
    if isinstance(moment, str):
        moment = date.fromisoformat(moment) if len(moment) == 10 else datetime.fromisoformat(moment.replace("Z", "+00:00"))
    if not isinstance(moment, datetime):
        return start_of(moment, zone)
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no offset from UTC: give it a tzinfo, or give a date for a day of the home")
    return moment.astimezone(timezone.utc)


def start_of(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of a day in a zone. Where clocks go forward at midnight, that is one o'clock."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(timezone.utc)


def timed(record: Mapping[str, Any], times: frozenset[str], inner: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A record with instants in the place of unix seconds, also in a record within it."""

    def value_of(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return timed(value, inner)
        return _epoch + timedelta(seconds=value) if name in times and value is not None else value

    return {name: value_of(name, value) for name, value in record.items()}
