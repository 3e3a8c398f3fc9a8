"""What can go wrong, with what to do about it."""

from __future__ import annotations

from typing import Optional

from .tables import remedies


class LintelError(Exception):
    """A refusal of the server: `str()` of it says what happened, its code and the remedy."""

    #: The HTTP status.
    status: int
    #: The number that tells errors apart; None where the body is not Lintel's.
    code: Optional[int]
    #: The server's own words.
    message: str
    #: What to do; empty where the message says it.
    remedy: str
    #: After how many seconds it makes sense to ask again, where the server says so.
    retry_after_s: Optional[int]

    def __init__(self, message: str, *, status: int, code: Optional[int], retry_after_s: Optional[int] = None) -> None:
        self.status, self.code, self.message, self.retry_after_s = status, code, message, retry_after_s
        self.remedy = remedies.get(code, "") if code is not None else ""
        named = f"{message} (status {status})" if code is None else f"{message} (code {code})"
        super().__init__(f"{named}: {self.remedy}" if self.remedy else named)


class NotReached(ConnectionError):
    """A server that does not answer, or that is not trusted: `str()` of it names its address and the remedy."""
