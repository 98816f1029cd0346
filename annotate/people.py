"""Accounts on a private Label Studio, and labels posted in their names.

The demo and the tests grade as people would: every annotator has an account and a token of their
own, and every label is that account's annotation. Community Edition has no way to create an
account with a password through the API, so the sign-up page behind the invite link is used.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ..scoring.errors import ServiceError

__all__ = ["Account", "post_annotations", "sign_up"]


@dataclass(frozen=True, slots=True)
class Account:
    """An annotator's account: e-mail address, user id and token (never shown)."""

    email: str
    user_id: int
    token: str = field(repr=False)


def sign_up(url: str, admin_token: str, email: str) -> Account:
    """Make an account on the server through its invite link.

    Parameters
    ----------
    url
        The server's address.
    admin_token
        A legacy token of a member of the organisation; it fetches the invite link.
    email
        The new account's address; its password is random and not kept.

    Raises
    ------
    ServiceError
        When the server does not let an account be made.
    """
    import httpx

    failed = f"no account could be made for {email}"
    try:
        # The page sets cookies that belong to the new account: one client an account.
        with httpx.Client(base_url=url, timeout=60) as client:
            invite = client.get("/api/invite", headers=_authorised(admin_token))
            invite.raise_for_status()
            page = invite.json()["invite_url"]
            form = client.get(page).text
            found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
            if not found:
                raise ServiceError(f"{failed}: the sign-up page has no form")
            answer = client.post(
                page,
                data={
                    "csrfmiddlewaretoken": found[1],
                    "email": email,
                    "password": secrets.token_urlsafe(18),
                },
                headers={"Referer": str(client.base_url.join(page))},
            )
            if answer.status_code != 302:
                raise ServiceError(
                    f"{failed}: the server answered {answer.status_code}",
                    cure="the address may be taken already",
                )
            user = client.get("/api/current-user/whoami").raise_for_status().json()
            token = client.get("/api/current-user/token").raise_for_status().json()["token"]
    except (httpx.HTTPError, ValueError, KeyError) as error:
        raise ServiceError(f"{failed}: {type(error).__name__}") from None
    return Account(email, int(user["id"]), token)


def post_annotations(
    url: str,
    account: Account,
    answers: Iterable[tuple[int, Sequence[Mapping[str, Any]], float | None]],
    *,
    threads: int = 4,
) -> int:
    """Post one annotation a task in the account's name and return how many were posted.

    ``answers`` gives (task id, result items, lead time in seconds or None).

    Raises
    ------
    ServiceError
        At the first annotation that the server refuses.
    """
    import httpx

    with httpx.Client(base_url=url, timeout=120, headers=_authorised(account.token)) as client:

        def post(answer: tuple[int, Sequence[Mapping[str, Any]], float | None]) -> None:
            task, result, lead_time = answer
            body = {"result": list(result), "lead_time": lead_time}
            try:
                client.post(f"/api/tasks/{task}/annotations/", json=body).raise_for_status()
            except httpx.HTTPStatusError as error:
                code = error.response.status_code
                raise ServiceError(f"task {task}: the server answered {code}") from None
            except httpx.HTTPError as error:
                raise ServiceError(f"task {task}: {type(error).__name__}") from None

        with ThreadPoolExecutor(threads) as pool:
            return sum(1 for _ in pool.map(post, answers))


def _authorised(token: str) -> dict[str, str]:
    return {"Authorization": f"Token {token}"}
