"""Values that break programs, and small changes of texts, trees of JSON and bytes."""

import copy
import random
from typing import Any

__all__ = ["any_number", "any_text", "any_value", "flip_bytes", "mutate_text", "mutate_tree", "sometimes"]

INTEGERS = (
    *(0, 1, -1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 18, 31, 63, 64, 100, 255, 256, 1000, 4096, 65535, 65536, 131072),
    *(2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1),
    *(10**30, 10**400),
)
FLOATS = (
    0.0,
    -0.0,
    0.1,
    0.5,
    1.0,
    1.5,
    -1.0,
    1e-9,
    5e-324,
    1e9,
    1e19,
    1e308,
    float("inf"),
    float("-inf"),
    float("nan"),
)
NUMBER_TEXTS = (
    *("", "1e999", "-1e999", "1_000", "+1", "0x10", "1.", ".5", "1e3", "０", "٣", "𝟐", "½", "²", "Infinity", "NaN"),
    *("9" * 25, "9" * 5000, "0" * 5000 + "1", "1" + "0" * 400, "-0", "--1", "1 ", "1,000", "true", "none", "null"),
)
TEXTS = (
    *("", " ", "\0", "\n", "\r\n", "\t", "a\nb", "\x1b[31m", "\x7f", "\u2028", "\ufeff", "\u202e", "\udcff", "é", "ﬀ"),
    *(
        "日本語",
        "🟧",
        "a" * 300,
        "x" * 5000,
        "../../x",
        "/",
        ".",
        "..",
        "~",
        "/dev/null",
        "%s%n",
        "{}",
        "{0.__class__}",
    ),
    *("'", '"', "\\", "$(x)", "=", "=1", ",", ":", ";", "--", "-h", "None", "nan", "__class__", "a.b:c", "os:path"),
)


def sometimes(chance: random.Random, probability: float) -> bool:
    """Tell whether something happens that does with this probability."""
    return chance.random() < probability


def any_number(chance: random.Random) -> int | float:
    """Return a number at some edge, or a small one."""
    return chance.choice((chance.choice(INTEGERS), chance.choice(FLOATS), chance.randint(-3, 20)))


def any_text(chance: random.Random) -> str:
    """Return a text that something may stumble over."""
    return chance.choice((chance.choice(TEXTS), chance.choice(NUMBER_TEXTS), _random_text(chance)))


def _random_text(chance: random.Random) -> str:
    return "".join(
        chr(chance.choice((chance.randint(32, 126), chance.randint(0, 0x2FFF)))) for _ in range(chance.randint(1, 12))
    )


def any_value(chance: random.Random, depth: int = 0) -> Any:
    """Return any value that JSON can hold."""
    kind = chance.randrange(8 if depth < 3 else 6)
    if kind == 0:
        return None
    if kind == 1:
        return chance.choice((True, False))
    if kind < 4:
        return any_number(chance)
    if kind < 6:
        return any_text(chance)
    if kind == 6:
        return [any_value(chance, depth + 1) for _ in range(chance.choice((0, 1, 2, 5)))]
    return {any_text(chance): any_value(chance, depth + 1) for _ in range(chance.choice((0, 1, 2)))}


def mutate_text(chance: random.Random, text: str, words: tuple[str, ...] = ()) -> str:
    """Return a text with one small change; `words` are pieces of its language."""
    begin = chance.randint(0, len(text))
    end = min(len(text), begin + chance.choice((0, 1, 1, 2, 5, len(text))))
    kind = chance.randrange(7)
    if kind == 0:
        return text[:begin] + text[end:]
    if kind == 1:
        return text[:begin] + text[begin:end] * chance.choice((2, 3, 100)) + text[end:]
    if kind == 2:
        return text[:begin]
    if kind == 3 and words:
        return text[:begin] + chance.choice(words) + text[end:]
    if kind == 4:
        other = chance.randint(0, len(text))
        return text[:begin] + text[other : other + 5] + text[begin:]
    if kind == 5:
        return text[:begin] + str(any_number(chance) if sometimes(chance, 0.9) else "9" * 5000)[:6000] + text[end:]
    return text[:begin] + any_text(chance) + text[end:]


def mutate_tree(chance: random.Random, tree: Any) -> Any:
    """Return a copy of a tree of lists and dictionaries with one change somewhere."""
    tree = copy.deepcopy(tree)
    holders: list[Any] = []

    def collect(node: Any) -> None:
        if isinstance(node, dict | list) and node:
            holders.append(node)
            for child in node.values() if isinstance(node, dict) else node:
                collect(child)

    collect(tree)
    if not holders or sometimes(chance, 0.02):
        return any_value(chance)
    holder = chance.choice(holders)
    key = chance.choice(list(holder)) if isinstance(holder, dict) else chance.randrange(len(holder))
    kind = chance.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = any_value(chance)
    elif kind == 2:
        holder[key] = _near(chance, holder[key])
    elif kind == 3 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(chance.choice(holder)))
    elif kind == 3:
        holder[any_text(chance)] = holder[key]
    elif kind == 4:
        holder[key] = [holder[key]] if sometimes(chance, 0.5) else {any_text(chance): holder[key]}
    else:
        other = chance.choice(holders)
        picked = chance.choice(list(other.values()) if isinstance(other, dict) else other)
        holder[key] = copy.deepcopy(picked)
    return tree


def _near(chance: random.Random, value: Any) -> Any:
    """Return a value of the same type, not far away."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + chance.choice((-1, 1, 2**32, -value, value))
    if isinstance(value, float):
        return value * chance.choice((-1.0, 0.0, 1e300, 1.0000001))
    if isinstance(value, str):
        return mutate_text(chance, value)
    return any_value(chance)


def flip_bytes(chance: random.Random, content: bytes) -> bytes:
    """Return bytes with one small change: bits flipped, a piece lost, doubled, overwritten or cut off."""
    if not content:
        return bytes([chance.randrange(256)])
    data = bytearray(content)
    begin = chance.randrange(len(data))
    end = min(len(data), begin + chance.choice((1, 2, 4, 8, 64)))
    kind = chance.randrange(6)
    if kind == 0:
        data[begin] ^= 1 << chance.randrange(8)
    elif kind == 1:
        del data[begin:end]
    elif kind == 2:
        data[begin:begin] = data[begin:end]
    elif kind == 3:
        data[begin:end] = chance.randbytes(end - begin)
    elif kind == 4:
        data[begin:end] = bytes([chance.choice((0, 0xFF, 0x7F, 0x80))]) * (end - begin)
    else:
        del data[begin:]
    return bytes(data)
