"""Packages that `lintel fetch` has written, one of each format: LINTEL_PACKAGES names the directory with csv, ndjson and parquet."""

import importlib.util
import json
import os
import tempfile
import unittest
from pathlib import Path

from lintel import read_package

PACKAGES = os.environ.get("LINTEL_PACKAGES")
PARQUET = any(importlib.util.find_spec(name) for name in ("pyarrow", "fastparquet"))


PANDAS = importlib.util.find_spec("pandas")


@unittest.skipUnless(PANDAS, "there is no pandas")
class Texts(unittest.TestCase):
    def test_are_as_they_were_also_where_csv_guards_them_from_spreadsheets(self):
        fields = [{"name": "itemname", "type": "string"}, {"name": "active", "type": "boolean"}]
        table = {"name": "items", "path": "items.csv", "format": "csv", "schema": {"fields": fields}}
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "datapackage.json").write_text(json.dumps({"resources": [table]}), "utf-8")
            lines = ["itemname,active", "'=1+1,true", "NA,", "0012,false", '"a;\'+b",true', "it's,true"]
            (Path(folder) / "items.csv").write_text("\r\n".join([*lines, ""]), "utf-8")
            frame = read_package(folder)["items"]
        self.assertEqual(frame["itemname"].tolist(), ["=1+1", "NA", "0012", "a;+b", "it's"])
        self.assertEqual(frame["active"].isna().tolist(), [False, True, False, False, False])


@unittest.skipUnless(PACKAGES and PANDAS, "LINTEL_PACKAGES names no packages, or there is no pandas")
class Packages(unittest.TestCase):
    def check(self, name):
        folder = Path(PACKAGES) / name
        tables = read_package(folder)
        described = json.loads((folder / "datapackage.json").read_text("utf-8"))
        words = {"string": "string", "integer": "Int64", "number": "float64", "boolean": "boolean"}
        self.assertGreater(len(tables), 20)
        for of in described["resources"]:
            frame = tables[of["name"]]
            self.assertEqual(len(frame), of["rows"], of["name"])
            for field in of["schema"]["fields"]:
                told = (of["name"], field["name"], field["type"])
                found = str(frame[field["name"]].dtype)
                if field["type"] == "datetime":
                    self.assertRegex(found, r"^datetime64\[\w+, UTC\]$", told)
                elif field["type"] == "date":
                    self.assertRegex(found, r"^datetime64\[\w+\]$", told)
                else:
                    self.assertEqual(found, words[field["type"]], told)
        return tables

    def test_every_column_has_the_type_that_is_told(self):
        tables = self.check("csv")
        self.assertTrue(tables["scale_weights"]["fatMass"].isna().any())
        self.assertEqual(tables["wirelesssensor_events"]["stamp"].dt.microsecond.max() % 1000, 0)

    def test_any_format_gives_the_same(self):
        csv = self.check("csv")
        made = json.loads((Path(PACKAGES) / "csv" / "datapackage.json").read_text("utf-8"))["lintel"]
        for name in ["ndjson", *(["parquet"] if PARQUET else [])]:
            other = self.check(name)
            for table in (path[: -len(".csv")] for path in made["lasting"]):
                for column in csv[table]:
                    one, two = (of[table][column] for of in (csv, other))
                    self.assertEqual(one.isna().tolist(), two.isna().tolist(), (name, table, column))
                    self.assertEqual(one.dropna().tolist(), two.dropna().tolist(), (name, table, column))


if __name__ == "__main__":
    unittest.main()
