"""The tables that commands print: columns stand below each other as a terminal shows them."""

from __future__ import annotations

import pytest

from accord.cli.common import grid
from accord.validate.text_cells import width

ROWS = [
    ["system", "slice", "mean F1", "questions", "p"],
    ["a-system-with-a-long-name", "Sports", "0.4372 [0.3148, 0.5595]", "22", "1.000"],
    ["東京モデル", "食べ物", "0.4788 [0.3436, 0.6140]", "7", "0.600"],
]


def test_wide_characters_take_two_columns() -> None:
    lines = list(grid(ROWS))
    assert len(lines) == len(ROWS)
    assert len({width(line) for line in lines}) == 1
    assert lines[2].startswith("東京モデル" + " " * 15 + "  食べ物  0.4788")


@pytest.mark.parametrize("size", [30, 44, 60, 75])
def test_a_row_that_is_too_wide_goes_on_below_itself(size: int) -> None:
    lines = list(grid(ROWS, size))
    assert max(map(width, lines)) <= size
    assert len(lines) % len(ROWS) == 0
    each = len(lines) // len(ROWS)
    assert each > 1
    for row, start in zip(ROWS, range(0, len(lines), each), strict=True):
        own = lines[start : start + each]
        assert " ".join(own).split() == " ".join(row).split()
        assert [line.startswith("    ") for line in own] == [False] + [True] * (each - 1)


def test_a_table_that_fits_stays_whole() -> None:
    assert list(grid(ROWS, 76)) == list(grid(ROWS))
