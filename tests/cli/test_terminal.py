"""What a terminal sends, taken apart into keys."""

import itertools

import pytest

from tilewright.cli.terminal import split_keys


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"wasd", ["w", "a", "s", "d"]),
        (b"\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]),
        (b"\x1bOA\x1bOB\x1bOC\x1bOD", ["up", "down", "right", "left"]),
        (b"a\x1b[Dq", ["a", "left", "q"]),
        (b"\x1b[1;5Cx", ["x"]),  # control and an arrow
        (b"\x1b[3~x", ["x"]),  # delete
        (b"\x1b[15~\x1b[A", ["up"]),  # F5
        (b"\x1b\x1b[A", ["up"]),
        (b"\x1bx", ["x"]),
        (b" +-?", [" ", "+", "-", "?"]),
        (b"\xc3\xa9", ["�", "�"]),
        (b"", []),
    ],
)
def test_bytes_are_keys(data: bytes, keys: list[str]) -> None:
    assert split_keys(data) == (keys, b"")


@pytest.mark.parametrize("beginning", [b"\x1b", b"\x1b[", b"\x1bO", b"\x1b[1", b"\x1b[1;5"])
def test_the_beginning_of_a_sequence_waits_for_the_rest(beginning: bytes) -> None:
    assert split_keys(b"a" + beginning) == (["a"], beginning)


def test_sequences_may_arrive_in_any_pieces() -> None:
    data = b"a\x1b[Ab\x1bOD\x1b[1;5C?"
    for cut, then in itertools.combinations(range(len(data) + 1), 2):
        keys, rest = [], b""
        for piece in (data[:cut], data[cut:then], data[then:]):
            more, rest = split_keys(rest + piece)
            keys += more
        assert (keys, rest) == (["a", "up", "b", "left", "?"], b"")
