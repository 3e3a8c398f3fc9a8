"""The word for a series: what is asked for, and what type its readings have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Mapping, TypeVar

Reading = TypeVar("Reading")


@dataclass(frozen=True)
class Series(Generic[Reading]):
    """A series of the interface. `lintel.scale_weights` and the others are all that there are."""

    name: str
    #: The type of the items that record it, as paths name it.
    kind: str
    path: str
    title: str
    #: What each field of a reading means, with its unit in parentheses.
    fields: Mapping[str, str]
    #: Those that are times.
    times: frozenset[str]

    def __str__(self) -> str:
        return self.name
