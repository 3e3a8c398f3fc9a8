"""One request at a time: headers, certificate, errors, and where the next page is."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, Iterator, Optional
from urllib.parse import urljoin, urlsplit

from .errors import LintelError, NotReached

_WAITS_MAX = 5
"""How often a server that is busy is asked again."""
_WAIT_S_MAX = 60


@dataclass(frozen=True)
class Answer:
    """A body, and the address of the page that follows."""

    body: Any
    next: Optional[str]


@dataclass(frozen=True)
class Message:
    """A message of a stream: the records of a page, and the cursor behind them."""

    cursor: str
    records: Any


class Transport:
    """Asks one server, with one token, which goes nowhere else."""

    def __init__(self, origin: str, token: str, certificate: Optional[str], timeout_s: float) -> None:
        self._origin, self._token, self._timeout_s = origin, token, timeout_s
        # A certificate that is given is the only one that is trusted.
        context = ssl.create_default_context(cafile=certificate)
        self._opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _NoRedirect())

    def get(self, url: str) -> Answer:
        """The answer to a GET, asked again where the server is busy and says when to come back. Raises LintelError for
        a refusal, NotReached where nobody answers."""
        for _ in range(_WAITS_MAX):
            try:
                return self._once(url)
            except LintelError as refused:
                wait_s = refused.retry_after_s if refused.status == 429 else None
                if wait_s is None or wait_s > _WAIT_S_MAX:
                    raise
                time.sleep(wait_s)
        return self._once(url)

    def follow(self, url: str) -> Iterator[Message]:
        """The messages of a stream of server-sent events, until it ends or breaks. Raises LintelError for a refusal,
        NotReached where nobody answers."""
        request = self._request(url, "application/json, text/event-stream")
        try:
            answer = self._opener.open(request, timeout=self._timeout_s)
        except urllib.error.HTTPError as refusal:
            with refusal:
                raise _refused(refusal) from None
        except (OSError, http.client.HTTPException) as fault:
            raise self._not_reached(fault) from fault
        with answer:
            cursor = None
            for line in _lines_until_broken(answer):
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "id":
                    cursor = value
                elif name == "data" and cursor is not None:
                    yield Message(cursor, json.loads(value))

    def _request(self, url: str, accept: str, **headers: str) -> urllib.request.Request:
        own = {"Authorization": f"bearer {self._token}", "Accept": accept}
        return urllib.request.Request(url, headers={**own, **headers})

    def _once(self, url: str) -> Answer:
        request = self._request(url, "application/json", **{"Accept-Encoding": "gzip"})
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                body = answer.read()
                if answer.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                records, link = json.loads(body), answer.headers.get("Link")
        except urllib.error.HTTPError as refusal:
            with refusal:
                raise _refused(refusal) from None
        except (OSError, http.client.HTTPException, EOFError, ValueError) as fault:
            raise self._not_reached(fault) from fault
        return Answer(records, _following(link, url))

    def _not_reached(self, fault: Exception) -> NotReached:
        reason = getattr(fault, "reason", fault)
        if isinstance(reason, ssl.SSLCertVerificationError):
            remedy = "name its certificate (certificate=…, or LINTEL_CERTIFICATE), and reach it by a name that is in it"
            return NotReached(f"{self._origin} is not trusted: {reason.verify_message}: {remedy}")
        if isinstance(reason, (json.JSONDecodeError, UnicodeDecodeError)):
            return NotReached(f"{self._origin} does not answer as Lintel does: look at the address")
        return NotReached(f"{self._origin} cannot be reached: {reason}: look whether it runs, and at the address")


def _following(link: Optional[str], url: str) -> Optional[str]:
    found = re.search(r'<([^>]*)>\s*;\s*rel="?next"?', link or "")
    if found is None:
        return None
    target: str = urljoin(url, found.group(1))
    if urlsplit(target)[:2] != urlsplit(url)[:2]:
        raise NotReached(f"the next page is on another server, which is not asked: {target}")
    return target


def _lines_until_broken(answer: Any) -> Iterator[bytes]:
    try:
        yield from answer
    except (OSError, http.client.HTTPException):
        return


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Lintel's interface redirects nowhere, and the token must not follow one who does."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def _refused(refusal: urllib.error.HTTPError) -> LintelError:
    seconds = refusal.headers.get("Retry-After") or ""
    retry_after_s = int(seconds) if seconds.isdigit() else None
    text = refusal.read()
    try:
        if refusal.headers.get("Content-Encoding") == "gzip":
            text = gzip.decompress(text)
        body = json.loads(text)
        code, message = body["code"], body["message"]
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return LintelError(f"{refusal.code} {refusal.reason}", status=refusal.code, code=None, retry_after_s=retry_after_s)
    return LintelError(message, status=refusal.code, code=code, retry_after_s=retry_after_s)
