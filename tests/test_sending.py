"""One request at a time, made ahead; nothing goes out after one that failed."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from accord.annotate.sending import in_turn


def test_each_input_stands_beside_its_own_answer_in_order() -> None:
    assert list(in_turn(lambda n: n * n, range(7))) == [(n, n * n) for n in range(7)]
    assert list(in_turn(lambda n: n, [])) == []


def test_no_two_calls_at_a_time_and_the_next_input_is_made_meanwhile() -> None:
    at_work = threading.Lock()
    made_third = threading.Event()

    def call(n: int) -> int:
        with at_work:
            assert n != 1 or made_third.wait(10), "the third input is made while the second waits"
            return n

    def inputs() -> Iterator[int]:
        for n in range(5):
            if n == 2:
                made_third.set()
            yield n

    assert [n for n, _ in in_turn(call, inputs())] == [0, 1, 2, 3, 4]


def test_nothing_is_called_after_a_call_that_failed() -> None:
    called, answered = [], []

    def call(n: int) -> int:
        called.append(n)
        if n == 1:
            raise OSError("reset")
        return n

    with pytest.raises(OSError, match="reset"):
        answered += [n for n, _ in in_turn(call, range(5))]
        raise AssertionError("the error was lost")
    assert called == [0, 1]


def test_the_answers_before_a_failure_come_first() -> None:
    answered = []

    def call(n: int) -> int:
        if n == 2:
            raise OSError
        return n

    with pytest.raises(OSError):
        for n, _ in in_turn(call, range(5)):
            answered.append(n)
    assert answered == [0, 1]


def test_nothing_is_called_after_the_caller_has_left() -> None:
    called: list[int] = []
    going = threading.Event()

    def call(n: int) -> int:
        called.append(n)
        assert n == 0 or going.wait(10)
        return n

    turns = in_turn(call, range(5))
    assert next(turns) == (0, 0)  # 1 is under way now
    turns.close()
    going.set()
    for thread in threading.enumerate():
        if thread.name == "accord sends":
            thread.join(10)
    assert called in ([0], [0, 1])


def test_an_input_that_can_not_be_made_stops_the_calls() -> None:
    called: list[int] = []

    def inputs() -> Iterator[int]:
        yield 0
        yield 1
        raise ValueError("no third")

    with pytest.raises(ValueError, match="no third"):
        list(in_turn(called.append, inputs()))
    assert called in ([0], [0, 1])
