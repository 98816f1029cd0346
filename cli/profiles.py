"""``accord profiles``: the formats of other benchmarks, and what becomes of their rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from .common import JSON, emit

if TYPE_CHECKING:
    from ..study.profile_shape import Profile

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(
        "profiles",
        help="List the formats that accord add --format takes, each with an example row, or show "
        "one: what its rows become, and whether several answers are all wanted (all-of) or any of "
        "them (any-of). Example: accord profiles qampari",
    )
    def profiles_command(
        name: str = typer.Argument(None, metavar="NAME", help="One format; all by default."),
        as_json: bool = JSON,
    ) -> None:
        from ..study.profiles import MAPPING, PROFILES, known_profile

        shown = [known_profile(name)] if name is not None else [*PROFILES.values(), MAPPING]
        lines = _details(shown[0]) if name is not None else _overview(shown)
        emit({"profiles": [profile.to_dict() for profile in shown]}, as_json, lines)


def _overview(profiles: list[Profile]) -> Iterator[str]:
    width = max(len(profile.name) for profile in profiles)
    for profile in profiles:
        what = ", ".join(profile.becomes) or "refused"
        yield f"{profile.name:<{width}}  {what:<20}  {profile.rule}"
        example = next(iter(profile.examples.values()))
        yield f"{'':<{width}}  {json.dumps(example, ensure_ascii=False)}"
    yield ""
    yield "Below each format an example row; accord profiles NAME shows its fields and all examples"


def _details(profile: Profile) -> Iterator[str]:
    yield f"{profile.name}: {profile.about}"
    yield f"list: {profile.rule}"
    if profile.refused is not None:
        reason, cure = profile.refused
        yield f"refused for list scoring: {reason}"
        yield f"instead: {cure}"
    for role, text in profile.becomes.items():
        yield f"--as {role}: {text}"
        if role in profile.fields:
            yield f"  fields: {', '.join(profile.fields[role])}"
    if profile.optional:
        yield f"optional fields: {', '.join(profile.optional)}"
    if profile.unconfirmed is not None:
        yield f"not confirmed: {profile.unconfirmed}"
    for what, row in profile.examples.items():
        yield f"example ({what}): {json.dumps(row, ensure_ascii=False)}"
