"""A running server, such as that of `lintel demo`: LINTEL_URL and LINTEL_TOKEN name it."""

import importlib.util
import os
import threading
import unittest
import unittest.mock
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer

import lintel
from lintel import Lintel, LintelError, NotReached, pillbox_status, scale_weights, wirelesssensor_events

SENSOR = "kitchen-wall"


@unittest.skipUnless(os.environ.get("LINTEL_URL"), "LINTEL_URL names no server")
class Server(unittest.TestCase):
    def setUp(self):
        self.lintel = Lintel()

    def test_gives_a_series_with_its_coverage_from_old_to_new(self):
        found = self.lintel.series(wirelesssensor_events, SENSOR)
        stamps = [reading["stamp"] for reading in found.readings]
        self.assertGreater(len(stamps), 100)
        self.assertEqual(stamps, sorted(stamps))
        self.assertEqual(found.item["itemname"], SENSOR)
        self.assertGreater(len(found.coverage), 0)
        ends = [at for one in found.coverage for at in (one.start, one.stop)]
        self.assertEqual(ends, sorted(ends))
        for of in found.days():
            self.assertEqual(of.listened + sum(of.missing.values()) + of.unknown, of.minutes)

    def test_walks_all_pages(self):
        day = timedelta(days=1)
        until = datetime.now(timezone.utc) - day
        whole = self.lintel.series(wirelesssensor_events, SENSOR, until=until)
        halves = [
            self.lintel.series(wirelesssensor_events, SENSOR, until=until - 3.3 * day),
            self.lintel.series(wirelesssensor_events, SENSOR, since=until - 3.3 * day, until=until),
        ]
        self.assertEqual([*halves[0].readings, *halves[1].readings], whole.readings)
        arrived = [reading for page in self.lintel.arrivals(wirelesssensor_events, SENSOR) for reading in page.readings]
        old = [reading for reading in arrived if reading["stamp"] < until]
        self.assertEqual(sorted(old, key=lambda of: of["stamp"]), sorted(whole.readings, key=lambda of: of["stamp"]))

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not here")
    def test_gives_a_derived_measure_as_one_frame(self):
        home = next(self.lintel.records("homes"))["homeid"]
        doses = self.lintel.derived(home, "doses")
        self.assertTrue(doses["stamp"].is_monotonic_increasing)
        self.assertIn("taken", set(doses["status"]))
        self.assertTrue(doses.loc[doses["status"] == "missed", "at"].isna().all())
        days = sorted(set(doses["day"]))
        some = self.lintel.derived(home, "doses", since=days[1].date(), until=days[3].date())
        self.assertEqual(list(some["day"]), list(doses["day"][doses["day"].isin(days[1:3])]))
        with self.assertRaises(LintelError):
            self.lintel.derived(home, "nothing")

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not here")
    def test_gives_many_items_or_homes_as_one_frame(self):
        until = datetime.now(timezone.utc) - timedelta(days=1)
        names = [item["itemname"] for item in self.lintel.items("wirelesssensors")][:3]
        some = self.lintel.frame(wirelesssensor_events, names, since=until - timedelta(days=1), until=until)
        self.assertEqual(list(some.columns), ["itemname", "stamp", "event"])
        self.assertTrue(set(some["itemname"]) <= set(names) and len(set(some["itemname"])) > 1)
        scales = self.lintel.frame(scale_weights, until=until)
        self.assertEqual(set(scales["itemname"]), {item["itemname"] for item in self.lintel.items("scales")})
        homes = [home["homeid"] for home in self.lintel.records("homes")]
        doses = self.lintel.derived([*homes, *homes], "doses", until=until)
        self.assertEqual(len(doses), 2 * len(self.lintel.derived(homes[0], "doses", until=until)))
        self.assertEqual(doses["homeid"][0], homes[0])

    def test_knows_where_the_items_of_a_home_are(self):
        places = {of["itemname"]: of for of in self.lintel.places(next(self.lintel.records("homes"))["homeid"])}
        self.assertEqual(places[SENSOR]["room"], "kitchen")
        self.assertEqual(sorted(of["order"] for of in places.values() if of["line"] == "hall"), [1, 2, 3, 4])

    def test_has_times_in_one_form(self):
        [status, *_] = self.lintel.series(pillbox_status, "pillbox-morning").readings
        for name in ("stamp", "devicestamp", "nextpanicstart"):
            self.assertEqual(status[name].tzinfo, timezone.utc)
        home = next(self.lintel.records("homes"))
        inventory = next(self.lintel.records_of("home_inventory", home["homeid"]))
        self.assertIsInstance(inventory["start"], datetime)
        self.assertIsInstance(inventory["item"]["currenthomestart"], datetime)

    def test_tells_what_has_arrived_since(self):
        *_, last = self.lintel.arrivals(scale_weights, "scale-bathroom")
        self.assertGreater(len(last.readings), 0)
        later = [reading for page in self.lintel.arrivals(scale_weights, "scale-bathroom", last.cursor) for reading in page.readings]
        self.assertTrue(all(reading not in last.readings for reading in later))

    def test_follows_readings_as_they_arrive(self):
        *_, last = self.lintel.arrivals(wirelesssensor_events, SENSOR)
        whole = [reading for page in self.lintel.arrivals(wirelesssensor_events, SENSOR) for reading in page.readings]
        followed = []
        for message in self.lintel.follow(wirelesssensor_events, SENSOR):
            followed.extend(message.readings)
            if message.cursor == last.cursor or len(followed) >= len(whole):
                break
        self.assertEqual(followed[: len(whole)], whole)
        with self.assertRaises(LintelError):
            next(self.lintel.follow(wirelesssensor_events, "nobody"))

    def test_knows_the_inventory(self):
        counts = {of["typename"]: of["count"] for of in self.lintel.item_types()}
        self.assertEqual(counts["scales"], len(list(self.lintel.items("scales"))))
        device = self.lintel.device("wirelesssensors", SENSOR)
        self.assertEqual(device["driver"], "zigbee")
        # A demo that has just started may not have told it yet.
        for past in device["history"]:
            self.assertEqual(past["start"].tzinfo, timezone.utc)

    def test_says_what_is_wrong_and_what_to_do(self):
        with self.assertRaises(LintelError) as caught:
            self.lintel.item("scales", "no/body")
        self.assertEqual((caught.exception.status, caught.exception.code), (404, 40403))
        self.assertIn("No item of type scales is named no/body (code 40403): the list of items", str(caught.exception))
        with self.assertRaisesRegex(LintelError, "code 40103.*whole token"):
            Lintel(token="x").item_types()
        with self.assertRaisesRegex(LintelError, "code 42201|code 41001"):
            list(self.lintel.arrivals(scale_weights, "scale-bathroom", "nonsense"))

    def test_makes_data_frames_where_pandas_is(self):
        try:
            import pandas
        except ModuleNotFoundError:
            self.skipTest("pandas is not here")
        found = self.lintel.series(wirelesssensor_events, SENSOR)
        frame = found.frame()
        self.assertEqual((len(frame), list(frame.columns)), (len(found.readings), ["event"]))
        self.assertEqual(frame.index[0].to_pydatetime(), found.readings[0]["stamp"])
        days = found.missingness()
        self.assertEqual(list(days.columns[:2]), ["minutes", "listened"])
        self.assertEqual(days["readings"].dtype, pandas.Int64Dtype())
        empty = self.lintel.series(wirelesssensor_events, SENSOR, until="2000-01-01")
        self.assertEqual((len(empty.frame()), len(empty.missingness())), (0, 0))


class Elsewhere(unittest.TestCase):
    def test_a_server_that_is_down_is_named(self):
        with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as taken:
            port = taken.server_port
        with self.assertRaisesRegex(NotReached, f"http://127.0.0.1:{port} cannot be reached: .*: look whether it runs"):
            Lintel(f"http://127.0.0.1:{port}", "x").item_types()

    def test_the_token_goes_to_no_other_server(self):
        for status, header in ((302, ("Location", "http://evil.example/")), (200, ("Link", '<http://evil.example/>; rel="next"'))):
            with answering(status, header) as url:
                with self.assertRaisesRegex((LintelError, NotReached), "status 302|another server"):
                    list(Lintel(url, "x").items("scales"))

    def test_what_is_no_lintel_is_said(self):
        with answering(200, ("X", "y"), b"<html>") as url:
            with self.assertRaisesRegex(NotReached, "does not answer as Lintel does"):
                Lintel(url, "x").item_types()

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(ValueError, "no token is given: pass token=…, or set LINTEL_TOKEN"):
            with unittest.mock.patch.dict(os.environ, {"LINTEL_TOKEN": ""}):
                Lintel("http://127.0.0.1:9")

    def test_every_series_is_exported(self):
        self.assertEqual(lintel.watch_epochs.kind, "watches")


class answering:
    """A server that answers everything in the same way."""

    def __init__(self, status, header, body=b"[]"):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                self.send_header(*header)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=[0.01], daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


if __name__ == "__main__":
    unittest.main()
