"""``accord label-studio``: a private Label Studio on this machine."""

from __future__ import annotations

import time
from pathlib import Path

import typer

from .common import JSON, emit, warn

__all__ = ["register"]

_PEOPLE = typer.Option(
    None, "--annotators", metavar="FILE", help="Who should have an account: a column email."
)

_DATA = typer.Option(
    None, "--data", metavar="DIR", help="Its data folder (default: in the user's data folder)."
)


def register(app: typer.Typer) -> None:
    """Add the group ``label-studio``."""
    group = typer.Typer(
        help="A private Label Studio on this machine: loopback only, nothing sent outside. "
        "Example: accord label-studio up",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    app.add_typer(group, name="label-studio")

    @group.command()
    def up(
        port: int | None = typer.Option(
            None, "--port", help="Default: the one used last, else 8910; 0 takes any free one."
        ),
        data: str | None = _DATA,
        as_json: bool = JSON,
    ) -> None:
        """Start it; installs it the first time.

        Example: accord label-studio up --port 9000
        """
        from ..annotate.server import PrivateServer

        begun = time.monotonic()
        server = PrivateServer(data)
        ran = server.status().running
        status = server.up(port, progress=warn)
        how = "runs already" if ran else f"started in {time.monotonic() - begun:.1f} s"
        option = f" --data {server.data}" if data else ""
        emit(
            status.to_dict(),
            as_json,
            [
                f"Label Studio {status.version} is at {status.url} ({how})",
                f"log in with what this shows: accord label-studio status --show-login{option}",
                f"stop it with: accord label-studio down{option}",
            ],
        )

    @group.command()
    def down(data: str | None = _DATA, as_json: bool = JSON) -> None:
        """Stop it; its data stay.

        Example: accord label-studio down
        """
        from ..annotate.server import PrivateServer

        stopped = PrivateServer(data).down()
        emit(
            {"stopped": stopped},
            as_json,
            ["Label Studio is stopped" if stopped else "Label Studio was not running"],
        )

    @group.command()
    def invite(
        annotators: Path = _PEOPLE,
        as_json: bool = JSON,
    ) -> None:
        """Show the link that lets a person make an account, and who has one already.

        The server is that of LABEL_STUDIO_URL, else the private one, which answers on this machine
        only. Example: accord label-studio invite --annotators people.csv
        """
        from ..annotate.annotators import read_annotators
        from ..annotate.connection import connect
        from ..annotate.invitation import invitation

        people = [] if annotators is None else read_annotators(annotators)
        with connect() as connection:
            found = invitation(connection, [person.email for person in people])
        emit(found.to_dict(), as_json, found.lines())

    @group.command()
    def status(
        data: str | None = _DATA,
        show_login: bool = typer.Option(
            False, "--show-login", help="Show e-mail, password and token of its owner."
        ),
        as_json: bool = JSON,
    ) -> int:
        """Say whether it runs; exit status 0 when it does, 1 when not.

        Example: accord label-studio status --show-login
        """
        from ..annotate.server import PrivateServer

        server = PrivateServer(data)
        now = server.status()
        payload = now.to_dict()
        lines = [
            f"Label Studio {now.version} is at {now.url}, process {now.pid}, since {now.started_at}"
            if now.running
            else "Label Studio is not running; start it with: accord label-studio up",
            f"data: {now.data}",
        ]
        if show_login:
            login = server.login()
            payload["login"] = {
                "email": login.email,
                "password": login.password,
                "token": login.token,
            }
            lines += [
                f"e-mail:   {login.email}",
                f"password: {login.password}",
                f"token:    {login.token}",
            ]
        emit(payload, as_json, lines)
        return 0 if now.running else 1
