"""An audit: read the engine, play with it, check what was seen."""

from collections.abc import Callable

from tilewright._core.checks import check_integer, check_range
from tilewright.agents.base import Agent
from tilewright.audit.chance_checks import (
    STATISTICAL_TESTS,
    check_first_boards,
    check_places,
    check_seeding,
    check_values,
)
from tilewright.audit.driving import Evidence, collect_evidence
from tilewright.audit.engines import EngineFactory, open_engine
from tilewright.audit.move_checks import (
    check_end,
    check_illegal_moves,
    check_legal_moves,
    check_moves,
    check_rewards,
    group_findings,
)
from tilewright.audit.reading import learn_to_read
from tilewright.audit.report import CHECKS, AuditReport, CheckResult, Example
from tilewright.audit.rules import write_tiles

__all__ = ["audit_engine"]

ERROR_RATE = 0.001


def audit_engine(
    engine: str | EngineFactory,
    *,
    moves: int = 20_000,
    agent: str | Agent = "ntuple",
    agent_moves: int = 5_000,
    starts: int = 1_000,
    four: float = 0.1,
    seed: int = 0,
    progress: Callable[[int], None] = lambda steps: None,
) -> AuditReport:
    """Drive an engine of 2048 through its own interface, and check it against exact rules.

    >>> report = audit_engine("gymnasium:tilewright.envs:tilewright/2048-v1", moves=300, agent_moves=0, starts=10)
    >>> report.findings
    []

    Args:
        engine: `gymnasium:ID`, `pgx`, `jumanji`, `open_spiel`, `module:callable`, or what `open_engine` returns.
        moves: The number of random moves.
        agent: A strong agent or its spec; it reaches large tiles, which random moves do not.
        agent_moves: The number of its moves.
        starts: The number of additional first boards.
        four: The probability that a new tile is a 4.
        seed: The seed of games and moves.
        progress: Called with the numbers of finished moves.

    Returns:
        What was checked and what was found.

    Raises:
        UsageError: There is no such engine, or it cannot be read.
    """
    check_integer(f"moves={moves}", moves, 1)
    check_integer(f"agent_moves={agent_moves}", agent_moves, 0)
    check_integer(f"starts={starts}", starts, 0)
    check_range(f"four={four}", four, 0, 1)
    check_integer(f"seed={seed}", seed, 0)
    factory = open_engine(engine) if not isinstance(engine, EngineFactory) else engine
    reading = learn_to_read(factory.make(), seed)
    evidence = collect_evidence(
        factory,
        reading,
        moves=moves,
        agent=agent,
        agent_moves=agent_moves,
        starts=starts,
        seed=seed,
        progress=progress,
    )
    alpha = ERROR_RATE / STATISTICAL_TESTS
    results = [
        *check_moves(evidence),
        check_rewards(evidence),
        check_legal_moves(evidence),
        check_illegal_moves(evidence),
        check_end(evidence),
        check_values(evidence, four, alpha),
        check_places(evidence, alpha),
        check_first_boards(evidence, four, alpha),
        check_seeding(factory, reading, seed),
        _check_arrays(evidence),
    ]
    return AuditReport(
        target=factory.target,
        version=factory.version,
        encoding=reading.encoding,
        directions=reading.directions,
        moves=len(evidence.transitions),
        games=evidence.games,
        seed=seed,
        error_rate=ERROR_RATE,
        largest=max(tile for step in evidence.transitions for row in step.after for tile in row),
        results=sorted(results, key=lambda result: list(CHECKS).index(result.name)),
    )


def _check_arrays(evidence: Evidence) -> CheckResult:
    """Check that an array that was returned keeps its content."""
    cases = [
        (
            "an array that was returned changes with the next step; return a copy",
            Example(tiles, "", write_tiles(tiles), "another board, in the same array"),
        )
        for tiles in evidence.changed_arrays
    ]
    return CheckResult("arrays", len(evidence.transitions), group_findings(cases))
