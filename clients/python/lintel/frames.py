"""pandas, which is needed only where data frames are asked for."""

from __future__ import annotations

import importlib
from typing import Any, Mapping, Sequence

#: Fields of derived measures that are times.
_derived_times = ("stamp", "start", "stop", "at")


def pandas_module() -> Any:
    """pandas. Raises ModuleNotFoundError with what to do."""
    try:
        return importlib.import_module("pandas")
    except ModuleNotFoundError as fault:
        raise ModuleNotFoundError("a data frame needs pandas: pip install 'lintel-client[pandas]'") from fault


def derived_frame(records: Sequence[Mapping[str, Any]]) -> Any:
    """Records of a derived measure as a data frame: aware times in UTC, days as midnights without a zone."""
    pandas = pandas_module()
    frame = pandas.DataFrame(list(records))
    for name in frame.columns.intersection(_derived_times):
        frame[name] = pandas.to_datetime(frame[name], unit="s", utc=True)
    if "day" in frame:
        frame["day"] = pandas.to_datetime(frame["day"])
    return frame.convert_dtypes()
