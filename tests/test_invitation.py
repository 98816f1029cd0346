"""The invite link of a real server, with which a person makes an account."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from accord.annotate.invitation import Invitation
from accord.annotate.people import sign_up
from accord.annotate.server import PrivateServer
from accord.cli import build

pytestmark = pytest.mark.label_studio


def test_invite(on_label_studio: PrivateServer, tmp_path: Path) -> None:
    url, token = str(on_label_studio.status().url), on_label_studio.login().token
    sign_up(url, token, "here@invite.example")
    table = tmp_path / "people.csv"
    table.write_text("email\nHere@invite.example\nnew@invite.example\n")
    command = ["label-studio", "invite", "--annotators", str(table)]
    done = CliRunner().invoke(build(), command, catch_exceptions=False)
    assert done.exit_code == 0
    assert "here@invite.example has an account" in done.stdout
    assert "new@invite.example has none yet: send the link" in done.stdout
    assert "answers on this machine only" in done.stdout
    assert token not in done.stdout
    found = json.loads(CliRunner().invoke(build(), [*command, "--json"]).stdout)
    assert found["need_account"] == ["new@invite.example"]
    page = httpx.get(found["link"], trust_env=False, follow_redirects=True, timeout=60)
    assert page.status_code == 200 and 'name="csrfmiddlewaretoken"' in page.text


def test_a_server_elsewhere_needs_no_note() -> None:
    far = Invitation("https://ls.example", "https://ls.example/user/signup/?token=1", (), ())
    assert not any("this machine only" in line for line in far.lines())
