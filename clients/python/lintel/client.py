"""The client: what a server is asked, and what comes back."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Generic, Iterable, Iterator, Mapping, Optional, Sequence, Union, cast
from urllib.parse import parse_qs, quote, urlencode, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .errors import LintelError
from .frames import derived_frame, pandas_module
from .moments import Moment, from_ms, instant_of, timed, to_ms
from .recorded import Recorded, Stretch, in_order
from .series import Reading, Series
from .tables import Device, Item, ItemType, Kind, OwnedRecordName, RecordName, record_paths, record_times
from .transport import Transport


_AGAIN_S = 1
"""Before a stream that has ended is asked for again."""


@dataclass(frozen=True)
class Arrived(Generic[Reading]):
    """Readings in the order in which they arrived, and the place behind them: handed back as `since`, it leads to what arrives later."""

    readings: Sequence[Reading]
    cursor: str


class Lintel:
    """A gateway or a central server. Whatever it refuses is a LintelError, and NotReached where it does not answer."""

    def __init__(
        self,
        url: Optional[str] = None,
        token: Optional[str] = None,
        certificate: Optional[str] = None,
        timeout_s: float = 60.0,
    ) -> None:
        """A client of the server at `url`, such as https://gateway.local:8080.

        What is not given is taken from LINTEL_URL, LINTEL_TOKEN and LINTEL_CERTIFICATE: the file of the one certificate
        that is trusted; where it is not given either, those that the machine trusts.
        """
        address = urlsplit(_given("url", url, "LINTEL_URL"))
        if address.scheme not in ("http", "https") or not address.netloc:
            raise ValueError(f"{address.geturl()!r} is no address of a server, such as https://gateway.local:8080")
        origin = f"{address.scheme}://{address.netloc}"
        self._base = f"{origin}{address.path.rstrip('/') or '/v0.9'}"
        trusted = certificate or os.environ.get("LINTEL_CERTIFICATE") or None
        self._transport = Transport(origin, _given("token", token, "LINTEL_TOKEN"), trusted, timeout_s)

    def item_types(self) -> list[ItemType]:
        """The types of item, with how many there are of each."""
        return cast("list[ItemType]", self._transport.get(f"{self._base}/items").body)

    def items(self, kind: Kind) -> Iterator[Item]:
        """The items of a type, in order of itemid."""
        return cast("Iterator[Item]", self._records(f"/inventory/{kind}", "items"))

    def item(self, kind: Kind, itemname: str) -> Item:
        """One item, by its name or its itemid."""
        record = self._transport.get(f"{self._base}/inventory/{kind}/{quote(itemname, safe='')}").body
        return cast(Item, timed(record, record_times["items"]))

    def device(self, kind: Kind, itemname: str) -> Device:
        """The device of an item, what it was before, and how its readings are made; the kind is one that records something."""
        record = self._transport.get(f"{self._base}/items/{kind}/{quote(itemname, safe='')}/device").body
        history = [timed(past, record_times["device_history"]) for past in record.get("history", [])]
        return cast(Device, {**record, "history": history})

    def records(self, name: RecordName) -> Iterator[dict[str, Any]]:
        """The records of a list: subjects, homes, projects, studies, issues or consents."""
        return self._records(record_paths[name], name)

    def records_of(self, name: OwnedRecordName, owner: int) -> Iterator[dict[str, Any]]:
        """The records of a list below the subject or home with this number."""
        return self._records(record_paths[name].replace("{id}", str(owner)), name)

    def series(
        self,
        series: Series[Reading],
        itemname: str,
        since: Optional[Moment] = None,
        until: Optional[Moment] = None,
    ) -> Recorded[Reading]:
        """A series of an item with its coverage: all that there is, or from `since` until before `until`.

        Each is a day of the home's calendar (`date` or "2026-11-01") or an instant (aware `datetime`, or "2026-11-01T08:00Z").
        """
        item = self.item(cast(Kind, series.kind), itemname)
        zone = self._zone_of(item)
        start = None if since is None else instant_of(since, zone)
        now = datetime.now(timezone.utc)
        stop = _next_second(now) if until is None else instant_of(until, zone)
        readings = [reading for page in self.pages(series, itemname, start, stop) for reading in page]
        readings.reverse()
        coverage = in_order(self._stretches(series.kind, itemname, start, stop), start, stop)
        firsts = [one.start for one in coverage[:1]] + [_stamp_of(reading) for reading in readings[:1]]
        begin = start if start is not None else min(firsts, default=stop)
        return Recorded(series, item, str(zone), begin, stop, readings, coverage)

    def frame(
        self,
        series: Series[Any],
        itemnames: Optional[Iterable[str]] = None,
        since: Optional[Moment] = None,
        until: Optional[Moment] = None,
    ) -> Any:
        """A series of many items as one pandas DataFrame: item after item from old to new, `itemname` and `stamp` in front.

        Without names it has all items of its kind. Times are in UTC. It does not tell when somebody listened: `series` does, item by item.
        """
        kind = cast(Kind, series.kind)
        names = [str(item["itemname"]) for item in self.items(kind)] if itemnames is None else itemnames
        rows = [
            {"itemname": name, **reading} for name in names for reading in self.series(series, name, since, until).readings
        ]
        return pandas_module().DataFrame(rows, columns=["itemname", "stamp", *series.fields])

    def derived(
        self,
        home: Union[int, Iterable[int]],
        name: str,
        since: Optional[Moment] = None,
        until: Optional[Moment] = None,
    ) -> Any:
        """A derived measure, such as "doses" or "nights", as a pandas DataFrame: of a home, or of several, home after home from old to new.

        What is missing (NA) is unknown, and never zero. `since` and `until` are as those of `series`. Take weights from
        "weight_daily": a scale does not know who stands on it.
        """
        records: list[dict[str, Any]] = []
        for homeid in [home] if isinstance(home, int) else home:
            zone = self._zone_of_home(homeid)
            start, stop = (None if at is None else instant_of(at, zone) for at in (since, until))
            path = f"/homes/{homeid}/derived/{quote(name, safe='')}"
            newest_first = [of for page in self._walk(path, {"limit": 1000, **_window(start, stop)}) for of in page]
            records += [{"homeid": homeid, **record} for record in reversed(newest_first)]
        return derived_frame(records)

    def places(self, home: int) -> list[dict[str, Any]]:
        """Where the items of a home are: room, role, and order and metres in a line of curtain sensors. None is not known."""
        return [place for page in self._walk(f"/homes/{home}/places", {}) for place in page]

    def pages(
        self,
        series: Series[Reading],
        itemname: str,
        since: Optional[datetime] = None,
        until: Optional[datetime] = None,
    ) -> Iterator[list[Reading]]:
        """The readings alone, a page at a time, newest first: for what does not fit into memory. Both are aware instants."""
        for page in self._walk(_path_of(series, itemname), {"precision": "ms", "limit": 1000, **_window(since, until)}):
            yield [
                reading
                for reading in (_reading(series, record) for record in page)
                if (since is None or _stamp_of(reading) >= since) and (until is None or _stamp_of(reading) < until)
            ]

    def coverage(
        self,
        kind: Kind,
        itemname: str,
        since: Optional[datetime] = None,
        until: Optional[datetime] = None,
    ) -> list[Stretch]:
        """When an item was listened to and alive, from old to new. Both are aware instants."""
        stop = until or _next_second(datetime.now(timezone.utc))
        return in_order(self._stretches(kind, itemname, since, stop), since, stop)

    def arrivals(self, series: Series[Reading], itemname: str, since: str = "") -> Iterator[Arrived[Reading]]:
        """What has arrived after a cursor, late readings too, up to what is newest now; without one, from the beginning.

        A cursor that the server does not know any more is a LintelError with code 41001: begin again without one.
        """
        query = {"since": since, "precision": "ms", "limit": 1000}
        url: Optional[str] = f"{self._base}{_path_of(series, itemname)}?{urlencode(query)}"
        while url is not None:
            answer = self._transport.get(url)
            url = answer.next
            if url is not None:
                [cursor] = parse_qs(urlsplit(url).query)["since"]
                yield Arrived([_reading(series, record) for record in answer.body], cursor)

    def follow(self, series: Series[Reading], itemname: str, since: str = "") -> Iterator[Arrived[Reading]]:
        """What `arrivals` gives, and then what arrives from now on, within a second, without an end.

        A stream that breaks goes on where it was, once the server answers. Where it does not, this raises, and the last cursor
        leads on.
        """
        while True:
            query = urlencode({"since": since, "precision": "ms", "limit": 1000})
            for message in self._transport.follow(f"{self._base}{_path_of(series, itemname)}?{query}"):
                since = message.cursor
                yield Arrived([_reading(series, record) for record in message.records], since)
            time.sleep(_AGAIN_S)

    def _stretches(self, kind: str, itemname: str, since: Optional[datetime], until: datetime) -> list[Stretch]:
        path = f"/items/{kind}/{quote(itemname, safe='')}/coverage"
        return [
            Stretch(from_ms(of["start"] * 1000), from_ms(of["stop"] * 1000), of["state"], of["reason"], of["lost"])
            for page in self._walk(path, {"limit": 1000, **_window(since, until)})
            for of in page
        ]

    def _zone_of(self, item: Item) -> ZoneInfo:
        return ZoneInfo("UTC") if item["currenthomeid"] is None else self._zone_of_home(item["currenthomeid"])

    def _zone_of_home(self, homeid: int) -> ZoneInfo:
        try:
            home = self._transport.get(f"{self._base}/homes/{homeid}").body
            return ZoneInfo(home["timezone"] or "UTC")
        except LintelError as refusal:
            if refusal.status != 404:
                raise
        except (ZoneInfoNotFoundError, ValueError):
            pass
        return ZoneInfo("UTC")

    def _records(self, path: str, name: str) -> Iterator[dict[str, Any]]:
        for page in self._walk(path, {}):
            for record in page:
                yield timed(record, record_times[name], record_times["items"])

    def _walk(self, path: str, query: Mapping[str, Union[str, int]]) -> Iterator[list[dict[str, Any]]]:
        url: Optional[str] = f"{self._base}{path}{'?' if query else ''}{urlencode(query)}"
        while url is not None:
            answer = self._transport.get(url)
            yield answer.body
            url = answer.next


def _given(name: str, value: Optional[str], variable: str) -> str:
    found = value or os.environ.get(variable)
    if not found:
        raise ValueError(f"no {name} is given: pass {name}=…, or set {variable}")
    return found


def _path_of(series: Series[Any], itemname: str) -> str:
    return f"/items/{series.kind}/{quote(itemname, safe='')}/{series.path}"


def _window(since: Optional[datetime], until: Optional[datetime]) -> dict[str, int]:
    """Bounds of the interface: whole seconds, neither of them in it."""
    bounds: dict[str, int] = {}
    if since is not None:
        bounds["after"] = to_ms(since) // 1000 - 1
    if until is not None:
        bounds["before"] = -(-to_ms(until) // 1000)
    return bounds


def _next_second(now: datetime) -> datetime:
    return now.replace(microsecond=0) + timedelta(seconds=1)


def _reading(series: Series[Reading], record: dict[str, Any]) -> Reading:
    reading = {**timed(record, series.times), "stamp": from_ms(record["stamp"])}
    return cast(Reading, reading)


def _stamp_of(reading: object) -> datetime:
    return cast("dict[str, datetime]", reading)["stamp"]
