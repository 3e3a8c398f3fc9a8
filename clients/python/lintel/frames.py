"""pandas, which is needed only where data frames are asked for."""

from __future__ import annotations

import importlib
from typing import Any


def pandas_module() -> Any:
    """pandas. Raises ModuleNotFoundError with what to do."""
    try:
        return importlib.import_module("pandas")
    except ModuleNotFoundError as fault:
        raise ModuleNotFoundError("a data frame needs pandas: pip install 'lintel-client[pandas]'") from fault
