"""How a person gets an account on a server: the invite link, and who has one already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..scoring.errors import ServiceError
from .connection import Connection

__all__ = ["Invitation", "invitation"]


@dataclass(frozen=True, slots=True)
class Invitation:
    """The link, and which of the people asked about have an account.

    The link lets whoever has it make an account; it is for people who shall grade.
    """

    server: str
    link: str
    here: tuple[str, ...]
    missing: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The invitation as JSON values."""
        return {
            "server": self.server,
            "link": self.link,
            "have_account": list(self.here),
            "need_account": list(self.missing),
        }

    def lines(self) -> Iterator[str]:
        """The invitation for a person."""
        yield f"invite link: {self.link}"
        yield "whoever opens it makes an account with an e-mail address and a password"
        yield from (f"{email} has an account" for email in self.here)
        yield from (f"{email} has none yet: send the link" for email in self.missing)
        if urlsplit(self.link).hostname in ("127.0.0.1", "localhost", "::1"):
            yield (
                "note: the server answers on this machine only; people elsewhere need a Label"
                " Studio on a host they reach (LABEL_STUDIO_URL, LABEL_STUDIO_API_KEY)"
            )


def invitation(connection: Connection, people: Sequence[str] = ()) -> Invitation:
    """Ask a server for its invite link.

    Parameters
    ----------
    people
        E-mail addresses of those who should have an account.

    Raises
    ------
    ServiceError
        When the server fails, or gives no link.
    """
    with connection.calling("to give its invite link") as client:
        found = client.organizations.invites.get_invite_link()
        users: Iterable[Any] = client.users.list()
        known = {(user.email or "").strip().lower() for user in users}
    path = found.invite_url or ""
    if not path:
        raise ServiceError(f"Label Studio at {connection.url} gave no invite link")
    base = urlsplit(connection.url)
    # The server gives a path from its root, which holds the path of the address already.
    link = path if "://" in path else f"{base.scheme}://{base.netloc}{path}"
    wanted = [email.strip().lower() for email in people]
    return Invitation(
        connection.url,
        link,
        tuple(email for email in wanted if email in known),
        tuple(email for email in wanted if email not in known),
    )
