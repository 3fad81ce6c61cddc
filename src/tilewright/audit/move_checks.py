"""Checks of single steps against the rules: slides, merges, new tiles, rewards, legal moves, the end of a game."""

import math
from collections.abc import Callable, Iterable

from tilewright.audit.driving import Evidence, Transition
from tilewright.audit.report import CheckResult, Example, Finding
from tilewright.audit.rules import WRONG_RULES, Tiles, added_tiles, lanes, legal_moves, slide, write_tiles

__all__ = ["check_end", "check_illegal_moves", "check_legal_moves", "check_moves", "check_rewards", "group_findings"]

WIN_TILE = 2048
_MIN_AGREEMENT = 0.9  # the part of the rewards that must follow a rule to be measured by it


def group_findings(cases: Iterable[tuple[str, Example]]) -> list[Finding]:
    """Make one finding of all cases with the same message, with the smallest example."""
    grouped: dict[str, list[Example]] = {}
    for message, example in cases:
        grouped.setdefault(message, []).append(example)
    return [
        Finding(message, len(examples), min(examples, key=lambda one: one.size))
        for message, examples in grouped.items()
    ]


# Slides, merges and the number of new tiles


def check_moves(evidence: Evidence) -> list[CheckResult]:
    """Check that a legal move slides and merges as the rules say, and adds one tile."""
    moves = [step for step in evidence.transitions if step.is_legal]
    cases: dict[str, list[tuple[str, Example]]] = {"slides": [], "merges": [], "new tiles": []}
    for step in moves:
        expected, _ = slide(step.before, step.direction)
        problem = None if _is_won(step, expected) else _explain(step, expected)
        if problem is not None:
            check, message = problem
            cases[check].append((message, _move_example(step, expected)))
    return [CheckResult(check, len(moves), group_findings(found)) for check, found in cases.items()]


def _is_won(step: Transition, expected: Tiles) -> bool:
    """Whether the engine ends the game at the winning tile, so that it adds no further tile."""
    return step.over and step.after == expected and _largest(expected) >= WIN_TILE


def _explain(step: Transition, expected: Tiles) -> tuple[str, str] | None:
    """The check that a step fails, and why; None if it is right."""
    added = added_tiles(expected, step.after)
    if added is not None:
        if len(added) == 1 and added[0] in (2, 4):
            return None
        if not added:
            return "new tiles", "no tile is added"
        if len(added) > 1:
            return "new tiles", f"{len(added)} tiles are added at once"
        return "new tiles", f"a {added[0]} is added"
    if step.after == step.before:
        return "slides", "a legal move changes nothing"
    for message, (check, rule) in WRONG_RULES.items():
        wrong, _ = slide(step.before, step.direction, rule)
        added = added_tiles(wrong, step.after)
        if added is not None and len(added) <= 1:
            return check, message
    return "slides", "the tiles are not where the rules put them"


def _move_example(step: Transition, expected: Tiles) -> Example:
    line = ""
    if added_tiles(expected, step.after) is None:
        lines = (lanes(tiles, step.direction) for tiles in (step.before, expected, step.after))
        for old, right, now in zip(*lines, strict=True):
            if added_tiles((right,), (now,)) is None:
                shown = [" ".join(map(str, one)) for one in (old, now, right)]
                line = f"{shown[0]} -> {shown[1]}, expected {shown[2]}, written from the side the tiles move to"
                break
    return Example(
        step.before, step.direction, f"{write_tiles(expected)}, and one new tile", write_tiles(step.after), line
    )


# Rewards


def check_rewards(evidence: Evidence) -> CheckResult:
    """Check that rewards follow one rule: the points of the move, their logarithm, or a multiple of them."""
    moves = [step for step in evidence.transitions if step.is_legal]
    points = [slide(step.before, step.direction)[1] for step in moves]
    scoring = [(step.reward, earned) for step, earned in zip(moves, points, strict=True) if earned]
    if not scoring:
        return CheckResult("rewards", 0, notes=["no move scored"])
    rules = _reward_rules(scoring)
    agreement = {name: sum(_same(reward, rule(earned)) for reward, earned in scoring) for name, rule in rules.items()}
    name = max(agreement, key=lambda one: agreement[one])
    if agreement[name] < _MIN_AGREEMENT * len(scoring):
        name = "the sum of the merged tiles"
    rule = rules[name]
    cases = [
        (f"the reward is not {name}", Example(step.before, step.direction, f"{rule(earned):g}", f"{step.reward:g}"))
        for step, earned in zip(moves, points, strict=True)
        if not _same(step.reward, rule(earned))
    ]
    return CheckResult("rewards", len(moves), group_findings(cases), [f"the reward is {name}"])


def _reward_rules(scoring: list[tuple[float, int]]) -> dict[str, Callable[[int], float]]:
    ratios = sorted(reward / earned for reward, earned in scoring)
    factor = ratios[len(ratios) // 2]
    return {
        "the sum of the merged tiles": float,
        "the logarithm to base 2 of the sum of the merged tiles": lambda points: math.log2(points) if points else 0.0,
        f"{factor:g} times the sum of the merged tiles": lambda points: factor * points,
    }


def _same(found: float, expected: float) -> bool:
    return math.isclose(found, expected, rel_tol=1e-5, abs_tol=1e-6)


# Legal and illegal moves, and the end


def check_legal_moves(evidence: Evidence) -> CheckResult:
    """Check the engine's own legal moves on every board that is not final."""
    boards = list(zip(evidence.starts, evidence.start_masks, strict=True))
    boards += [(step.after, step.mask) for step in evidence.transitions if not (step.over or step.truncated)]
    known = [(tiles, mask) for tiles, mask in boards if mask is not None]
    if not known:
        return CheckResult("legal moves", 0, notes=["the engine does not say which moves are legal"])
    cases = []
    for tiles, mask in known:
        legal = legal_moves(tiles)
        for move, allowed in mask.items():
            if allowed != (move in legal) and legal:
                message = "a legal move is missing" if move in legal else "a move that changes nothing is listed"
                listed = [one for one, here in mask.items() if here]
                cases.append((message, Example(tiles, move, _list(legal), _list(listed))))
    return CheckResult("legal moves", len(known), group_findings(cases))


def _list(moves: Iterable[str]) -> str:
    return f"legal: {', '.join(sorted(moves)) or 'none'}"


def check_illegal_moves(evidence: Evidence) -> CheckResult:
    """Check that moves that change nothing really change nothing."""
    tried = [step for step in evidence.transitions if not step.is_legal]
    result = CheckResult("illegal moves", len(tried) + len(evidence.errors))
    if not result.tested:
        result.notes.append("illegal moves were not tried")
        return result
    cases = [
        (
            "a move that slides nothing changes the board",
            Example(step.before, step.direction, write_tiles(step.before), write_tiles(step.after)),
        )
        for step in tried
        if step.after != step.before and not step.over
    ]
    result.findings = group_findings(cases)
    if evidence.errors:
        result.notes.append(f"the engine raises {', '.join(sorted(set(evidence.errors)))}")
    ended = [step for step in tried if step.over]
    if ended:
        result.notes.append(f"{len(ended)} of {len(tried)} illegal moves ended the game")
    rewards = {step.reward for step in tried}
    if rewards - {0.0}:
        result.notes.append(f"rewards of illegal moves: {', '.join(f'{one:g}' for one in sorted(rewards)[:5])}")
    return result


def check_end(evidence: Evidence) -> CheckResult:
    """Check that a game ends exactly when no move is legal."""
    steps = [step for step in evidence.transitions if step.is_legal and not step.truncated]
    result = CheckResult("game over", len(steps))
    early, late = [], []
    for step in steps:
        is_over = not legal_moves(step.after)
        if step.over and not is_over:
            early.append(step)
        elif is_over and not step.over:
            late.append(step)
    if early and all(_largest(step.after) >= WIN_TILE for step in early):
        result.notes.append(f"the game ends when a {WIN_TILE} is made")
        early = []
    cases = [("the game ends while a move is legal", step, _list(legal_moves(step.after))) for step in early]
    cases += [("the game continues although no move is legal", step, "the end") for step in late]
    result.findings = group_findings(
        (message, Example(step.after, "", expected, "the end" if step.over else "no end"))
        for message, step, expected in cases
    )
    ends = sum(step.over for step in steps)
    if not ends:
        result.notes.append("no game ended")
    return result


def _largest(tiles: Tiles) -> int:
    return max(tile for row in tiles for tile in row)
