"""A connection to a Label Studio server, whose errors are one line and hold no secret.

The SDK's own errors quote every header and the whole page of the answer (170 KB, with the session
cookie); none of them leaves this module.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from ..scoring.errors import ServiceError
from .server import PrivateServer

if TYPE_CHECKING:
    import httpx
    from label_studio_sdk import LabelStudio

__all__ = ["MINIMUM_VERSION", "Connection", "connect"]

MINIMUM_VERSION = (1, 16, 0)
"""Older servers let a link run a script in the reader's session (CVE-2025-25296)."""

_TIMEOUT = 300.0  # a synchronous export needs about 3.4 ms a task
_HELLO = 30.0  # the first request, which says only the version
_CONNECT = 10.0
_LONGEST = 200
_START = "start one with: accord label-studio up, or set LABEL_STUDIO_URL and LABEL_STUDIO_API_KEY"


@dataclass(slots=True)
class Connection:
    """An open connection; a context manager.

    Attributes
    ----------
    url
        The server's address without user name and password, and without a slash at its end.
    version
        The server's release, ``1.23.2``.
    email
        The address of the account that the token belongs to.
    client
        The SDK's client: time-out 300 s and no retries, since a failing import leaves tasks behind
        and a retried one leaves more. Use it within :meth:`calling`.
    """

    url: str
    version: str
    email: str
    client: LabelStudio = field(repr=False)
    http: httpx.Client = field(repr=False)
    api_key: str = field(repr=False)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back the sockets."""
        self.http.close()

    @contextlib.contextmanager
    def calling(self, doing: str) -> Iterator[LabelStudio]:
        """The SDK's client; what goes wrong inside becomes a :class:`ServiceError`.

        ``doing`` completes the sentence "Label Studio at URL failed ...".
        """
        with _told(self.url, self.api_key, doing):
            yield self.client


def connect(url: str | None = None, api_key: str | None = None) -> Connection:
    """Connect to the server of the environment, or else to the private one.

    Parameters
    ----------
    url, api_key
        Default: ``LABEL_STUDIO_URL`` and ``LABEL_STUDIO_API_KEY``; where no address is set, the
        private server's own. A legacy token and a personal access token both work; the address may
        have a path.

    Raises
    ------
    ServiceError
        When there is no server, it is no Label Studio, it is too old, or it refuses the token.
    """
    url, api_key = _address(url, api_key)
    shown, base, credentials = _split(url)
    if not re.fullmatch(r"[\x21-\x7e]+", api_key):
        raise ServiceError(
            "LABEL_STUDIO_API_KEY is no token: it holds blanks or other characters",
            cure=f"set it to {_kinds()}",
        )

    import httpx
    from label_studio_sdk import LabelStudio
    from label_studio_sdk.core.api_error import ApiError

    loopback = urlsplit(base).hostname in ("127.0.0.1", "localhost", "::1")
    http = httpx.Client(
        timeout=httpx.Timeout(_TIMEOUT, connect=_CONNECT),
        follow_redirects=True,
        auth=credentials,
        # A proxy of the environment leads away from this machine.
        trust_env=not loopback,
    )
    try:
        version = _version(http, base, shown, api_key)
        with _told(shown, api_key, "to take the token"):
            # The slash at the end keeps a path in the address when a token is refreshed.
            client = LabelStudio(  # type: ignore[no-untyped-call]  # the SDK's gap
                base_url=f"{base}/",
                api_key=api_key,
                httpx_client=http,
                timeout=_TIMEOUT,
                max_retries=0,
            )
            try:
                who = client.users.whoami()
            except ApiError as error:
                if error.status_code == 404:
                    # /api/version answers below any path.
                    raise _no_label_studio(shown) from None
                raise
    except BaseException:
        http.close()
        raise
    return Connection(shown, version, who.email or "", client, http, api_key)


def _address(url: str | None, api_key: str | None) -> tuple[str, str]:
    url = url or os.environ.get("LABEL_STUDIO_URL", "").strip()
    api_key = api_key or os.environ.get("LABEL_STUDIO_API_KEY", "").strip()
    if url and api_key:
        return url, api_key
    server = PrivateServer()
    now = server.status()
    if url:
        if now.running and now.url == url.rstrip("/"):
            return url, server.login().token
        raise ServiceError(
            "LABEL_STUDIO_URL is set and LABEL_STUDIO_API_KEY is not",
            cure=f"set LABEL_STUDIO_API_KEY to {_kinds()}",
        )
    if not now.running or now.url is None:
        raise ServiceError(
            "no Label Studio: LABEL_STUDIO_URL is not set and the private one is not running",
            cure=_START,
        )
    return now.url, server.login().token


def _split(url: str) -> tuple[str, str, tuple[str, str] | None]:
    """The address as shown, as called, and the user name and password that stood in it."""
    wrong = ServiceError(
        "LABEL_STUDIO_URL is no web address",
        cure="write it as http://host:8080 or https://host/path",
    )
    if "://" not in url:
        url = f"http://{url}"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not host:
        raise wrong
    place = f"[{host}]" if ":" in host else host
    place += f":{port}" if port else ""
    clean = urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", ""))
    credentials = (parts.username, parts.password or "") if parts.username else None
    return clean, clean, credentials


def _version(http: httpx.Client, base: str, shown: str, api_key: str) -> str:
    """The server's release; refuses what is no Label Studio or too old."""
    import httpx

    with _told(shown, api_key, "to say its version"):
        answer = http.get(f"{base}/api/version", timeout=httpx.Timeout(_HELLO, connect=_CONNECT))
    try:
        found = answer.json()["release"]
        number = tuple(int(part) for part in re.findall(r"\d+", str(found))[:3])
    except (ValueError, KeyError, TypeError):
        if answer.status_code >= 500:
            raise ServiceError(
                f"{shown} answers with status {answer.status_code}",
                cure="wait until the server is up, or look at its log",
            ) from None
        raise _no_label_studio(shown) from None
    if not number:
        raise _no_label_studio(shown)
    if number < MINIMUM_VERSION:
        raise ServiceError(
            f"{shown} is Label Studio {found}, older than "
            f"{'.'.join(str(part) for part in MINIMUM_VERSION)}",
            cure="update the server, or use a private one: accord label-studio up",
        )
    return str(found)


def _no_label_studio(shown: str) -> ServiceError:
    return ServiceError(
        f"{shown} answers, but is no Label Studio", cure="check LABEL_STUDIO_URL, also its path"
    )


@contextlib.contextmanager
def _told(url: str, api_key: str, doing: str) -> Iterator[None]:
    """Turn whatever a call raises into one line."""
    import httpx
    from label_studio_sdk.core.api_error import ApiError

    try:
        with warnings.catch_warnings():
            # The SDK refreshes a personal access token through a pydantic call that is deprecated.
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    except ApiError as error:
        if error.status_code in (401, 403):
            raise _refused(url, api_key, error.body) from None
        said = _said(error.body, api_key)
        raise ServiceError(
            f"Label Studio at {url} failed {doing}: status {error.status_code}"
            + (f", {said}" if said else "")
        ) from None
    except httpx.ConnectTimeout:
        raise ServiceError(
            f"Label Studio at {url} can't be reached (no connection in time)",
            cure=f"check LABEL_STUDIO_URL, or {_START}",
        ) from None
    except httpx.TimeoutException as error:
        waited = error.request.extensions.get("timeout", {}).get("read") or _TIMEOUT
        raise ServiceError(
            f"Label Studio at {url} failed {doing}: no answer within {waited:g} s",
            cure="run this again; what arrived is not sent twice",
        ) from None
    except httpx.TransportError as error:
        raise ServiceError(
            f"Label Studio at {url} can't be reached ({_said(str(error), api_key) or 'no answer'})",
            cure=f"check LABEL_STUDIO_URL, or {_START}",
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ServiceError(
            f"Label Studio at {url} failed {doing}: {_said(str(error), api_key)}"
        ) from None
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        # JSON that is none, or of another shape: a page of a proxy, or of a server in trouble.
        # Pydantic's errors too. What our own code gets wrong is a bug and stays one.
        if not isinstance(error, ValueError) and not _raised_by_sdk(error):
            raise
        raise ServiceError(
            f"Label Studio at {url} failed {doing}: its answer can't be read "
            f"({type(error).__name__})",
            cure="check LABEL_STUDIO_URL, or look at the server's log",
        ) from None


def _raised_by_sdk(error: BaseException) -> bool:
    """Whether an error was raised in the SDK, or in what it is built on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__"))
    return module.partition(".")[0] in ("label_studio_sdk", "pydantic", "pydantic_core", "httpx")


def _refused(url: str, api_key: str, body: Any) -> ServiceError:
    said = _said(body, api_key)
    kind = "personal access token" if api_key.count(".") == 2 else "legacy token"
    if "legacy token authentication has been disabled" in said:
        return ServiceError(
            f"Label Studio at {url} refused the token: legacy tokens are switched off there",
            cure="use a personal access token (Account & Settings), or let an administrator switch "
            "legacy tokens on (Organization, API Tokens Settings)",
        )
    if kind.startswith("personal") and "not provided" in said:
        # The server hands out the short-lived token all the same, and then does not look at it.
        return ServiceError(
            f"Label Studio at {url} refused the token: personal access tokens are off there",
            cure="use a legacy token, or let an administrator switch personal access tokens on "
            "(Organization, API Tokens Settings)",
        )
    return ServiceError(
        f"Label Studio at {url} refused the {kind}" + (f": {said}" if said else ""),
        cure=f"set LABEL_STUDIO_API_KEY to {_kinds()}",
    )


def _kinds() -> str:
    return "a personal access token or a legacy token of that server (Account & Settings)"


def _said(body: Any, api_key: str) -> str:
    """What the server said: without markup, tokens and cookies, and not much of it."""
    if isinstance(body, dict):
        parts = [body[name] for name in ("detail", "validation_errors", "error") if body.get(name)]
        body = parts[0] if parts else body
        if isinstance(body, dict):
            body = "; ".join(f"{name}: {text}" for name, text in body.items())
    if isinstance(body, (list, tuple)):
        body = "; ".join(str(part) for part in body)
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else str(body or "")
    if "<html" in text.lower():
        title = re.search(r"<title[^>]*>([^<]*)</title>", text, re.IGNORECASE)
        text = title[1] if title else "a web page"
    # A short token is no token and would be found inside words.
    text = text.replace(api_key, "…") if len(api_key) > 8 else text
    text = re.sub(r"eyJ[\w-]+\.[\w-]+\.[\w-]*|\b[0-9a-f]{40}\b", "…", text)
    text = re.sub(r"(?i)(sessionid|csrftoken)\s*=\s*[^;\s]+", r"\1=…", text)
    text = re.sub(r"://[^/\s@]+@", "://…@", re.sub(r"<[^>]*>", " ", text))
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
