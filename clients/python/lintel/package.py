"""The files of a download as data frames, with the types that its datapackage.json tells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Mapping, Union

from .frames import pandas_module

#: Types of fields as pandas has them. For days it has none: they are midnights without a zone.
_types: Mapping[str, str] = {"string": "string", "integer": "Int64", "number": "float64", "boolean": "boolean"}
_times: Mapping[str, Mapping[str, Any]] = {
    "datetime": {"format": "%Y-%m-%dT%H:%M:%S.%fZ", "utc": True},
    "date": {"format": "%Y-%m-%d"},
}
#: An apostrophe that CSV has before a text that a spreadsheet would compute.
_guard = re.compile(r"""^'(?=['"\s]*[=+\-@＝＋－＠]|'*[\t\r\n])|(?<=[;\t\r\n])'(?=['"\s]*[=+\-@＝＋－＠])""")


def read_package(folder: Union[str, Path]) -> dict[str, Any]:
    """Every table of what `lintel fetch` or `lintel export` has written, in any format, by its name, as a pandas DataFrame.

    Whole numbers, truths and texts of which one is missing stay what they are; every time is in UTC. Parquet needs pyarrow or fastparquet.
    """
    described = json.loads((Path(folder) / "datapackage.json").read_text("utf-8"))
    return {table["name"]: _table(Path(folder), table) for table in described["resources"]}


def _table(folder: Path, table: Mapping[str, Any]) -> Any:
    fields = {field["name"]: field["type"] for field in table["schema"]["fields"]}
    frame = _readers[table["format"]](folder / table["path"], fields)
    for name, kind in fields.items():
        if kind in _times:
            frame[name] = pandas_module().to_datetime(frame[name], **_times[kind])
        else:
            frame[name] = frame[name].astype(_types[kind])
    return frame


def _csv(path: Path, fields: Mapping[str, str]) -> Any:
    texts = {name: _types.get(kind, "string") for name, kind in fields.items()}
    frame = pandas_module().read_csv(path, dtype=texts, keep_default_na=False, na_values=[""])
    for name, kind in fields.items():
        if kind == "string":
            frame[name] = frame[name].str.replace(_guard, "", regex=True)
    return frame


def _ndjson(path: Path, fields: Mapping[str, str]) -> Any:
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return pandas_module().DataFrame(rows, columns=list(fields), dtype=object)


def _parquet(path: Path, fields: Mapping[str, str]) -> Any:
    return pandas_module().read_parquet(path, columns=list(fields))


_readers = {"csv": _csv, "ndjson": _ndjson, "parquet": _parquet}
