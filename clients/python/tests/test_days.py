"""Days and minutes, without a server."""

import unittest
from collections import Counter
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from lintel import Recorded, Stretch, wirelesssensor_events
from lintel.moments import instant_of, start_of
from lintel.recorded import in_order

UTC = timezone.utc
BERLIN = "Europe/Berlin"


def recorded(zone, since, until, stamps=(), coverage=()):
    item = {"itemname": "hall-wall"}
    readings = [{"stamp": stamp, "event": 1} for stamp in stamps]
    return Recorded(wirelesssensor_events, item, zone, since, until, readings, coverage)


def covered(start, stop):
    return Stretch(start, stop, "covered", None, None)


def down(start, stop):
    return Stretch(start, stop, "not_listening", "gateway_down", None)


class Days(unittest.TestCase):
    def test_add_up_also_where_the_clocks_change(self):
        since = start_of(date(2026, 3, 28), ZoneInfo(BERLIN))
        until = start_of(date(2026, 10, 27), ZoneInfo(BERLIN))
        half = since + (until - since) / 2
        days = recorded(BERLIN, since, until, coverage=[covered(since, half), down(half, until)]).days()
        self.assertEqual(Counter(of.minutes for of in days), {1440: 211, 1380: 1, 1500: 1})
        for of in days:
            self.assertEqual(of.listened + sum(of.missing.values()) + of.unknown, of.minutes)
        self.assertEqual(sum(of.unknown for of in days), 0)

    def test_without_a_listener_have_no_count_instead_of_zero(self):
        since = datetime(2026, 11, 1, tzinfo=UTC)
        day = timedelta(days=1)
        coverage = [covered(since, since + day), down(since + day, since + 2 * day)]
        days = recorded("UTC", since, since + 4 * day, [since + 3.5 * day], coverage).days()
        self.assertEqual([of.readings for of in days], [0, None, None, 1])
        self.assertEqual([of.unknown for of in days], [0, 0, 1440, 1440])
        self.assertEqual([of.complete for of in days], [True, False, False, False])

    def test_of_a_zone_that_skipped_one_do_not_have_it(self):
        since, until = datetime(2011, 12, 29, 12, tzinfo=UTC), datetime(2011, 12, 31, 12, tzinfo=UTC)
        days = recorded("Pacific/Apia", since, until).days()
        self.assertEqual([str(of.day) for of in days], ["2011-12-29", "2011-12-31", "2012-01-01"])

    def test_begin_at_one_where_the_clocks_go_forward_at_midnight(self):
        zone = ZoneInfo("America/Asuncion")
        self.assertEqual(start_of(date(2023, 10, 1), zone), datetime(2023, 10, 1, 4, tzinfo=UTC))


class Silence(unittest.TestCase):
    def test_is_rest_only_where_somebody_listened(self):
        since = datetime(2026, 11, 1, tzinfo=UTC)
        hours = [since + timedelta(hours=at) for at in range(5)]
        of = recorded("UTC", hours[0], hours[4], [hours[1]], [covered(hours[0], hours[2]), down(hours[2], hours[4])])
        self.assertIs(of.happened(hours[0], hours[2]), True)
        self.assertIs(of.happened(hours[1] + timedelta(seconds=1), hours[2]), False)
        self.assertIsNone(of.happened(hours[1] + timedelta(seconds=1), hours[3]))
        self.assertIsNone(of.happened(hours[4], hours[4] + timedelta(hours=1)))
        self.assertIn("1 readings; listened 50.0 % of the time, gateway_down 120 min", str(of))


class Coverage(unittest.TestCase):
    def test_has_no_overlaps_and_ends_where_it_was_asked_to(self):
        at = [datetime(2026, 11, 1, hour, tzinfo=UTC) for hour in range(6)]
        newest_first = [covered(at[3], at[5]), down(at[2], at[3]), down(at[2], at[3]), covered(at[0], at[2])]
        found = in_order(newest_first, at[1], at[4])
        self.assertEqual(found, [covered(at[1], at[2]), down(at[2], at[3]), covered(at[3], at[4])])


class Moments(unittest.TestCase):
    def test_are_days_of_the_home_or_instants(self):
        berlin = ZoneInfo(BERLIN)
        self.assertEqual(instant_of("2026-11-01", berlin), datetime(2026, 10, 31, 23, tzinfo=UTC))
        self.assertEqual(instant_of(date(2026, 11, 1), berlin), datetime(2026, 10, 31, 23, tzinfo=UTC))
        self.assertEqual(instant_of("2026-11-01T08:00:00Z", berlin), datetime(2026, 11, 1, 8, tzinfo=UTC))
        with self.assertRaisesRegex(ValueError, "no offset"):
            instant_of(datetime(2026, 11, 1, 8), berlin)


if __name__ == "__main__":
    unittest.main()
