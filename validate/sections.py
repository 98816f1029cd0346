"""The parts of an agreement panel beyond its main figures, in the order in which they are shown.

A part is made by a function from one :class:`~accord.validate.section.View`; its module is
imported when a panel is made, not before. To add a part, write its maker and list it here.
"""

from __future__ import annotations

import importlib

from .section import Section, SectionMaker, View

__all__ = ["MAKERS", "make_sections"]

MAKERS: tuple[tuple[str, str], ...] = (
    (".strata", "strata_section"),
    (".family", "family_section"),
    (".tuning", "tuning_section"),
    (".response_length", "length_section"),
    (".joint_table", "joint_section"),
    (".ceiling_section", "ceiling_section"),
    (".rater_section", "rater_section"),
    (".alignment_section", "alignment_section"),
)
"""Module (relative to this package) and name of each maker."""


def make_sections(view: View) -> tuple[Section, ...]:
    """Every part that the ratings have something for."""
    made = (_maker(module, name)(view) for module, name in MAKERS)
    return tuple(section for section in made if section is not None)


def _maker(module: str, name: str) -> SectionMaker:
    found: SectionMaker = getattr(importlib.import_module(module, __package__), name)
    return found
