"""A client of Lintel's interface, version 0.9, that never takes silence for rest: a series comes with its coverage.

    from lintel import Lintel, wirelesssensor_events

    lintel = Lintel("https://gateway.local:8080", token, certificate="gateway.pem")
    hall = lintel.series(wirelesssensor_events, "hall-wall", since="2026-11-01")
    print(hall)             # how many readings, and how long somebody listened
    hall.days()             # each day of the home's calendar, with its minutes missing
    hall.happened(at, end)  # True, False, or None: nobody knows

Every time is an aware `datetime` in UTC; days are those of the home. It needs Python 3.9 and nothing else.
"""

from .client import Arrived, Lintel
from .errors import LintelError, NotReached
from .package import read_package
from .recorded import Day, Recorded, Stretch
from .series import Series
from .tables import *  # noqa: F403 (the series, and the types of readings and records)
from .tables import __all__ as _tables

__all__ = ["Arrived", "Day", "Lintel", "LintelError", "NotReached", "Recorded", "Series", "Stretch", "read_package", *_tables]
