"""Callbacks: code of yours that runs at certain moments of a training session."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from tilewright.errors import FileError, UsageError
from tilewright.training.run_folder import EvaluationPoint, StagePoint, TrainingPoint

if TYPE_CHECKING:
    from tilewright.training.session import TrainingSession

__all__ = ["Callback", "CallbackList", "Callbacks", "as_callback"]


class Callback:
    """Base of all callbacks; override the methods that you need.

    Every method gets the session first: its `config`, its `progress` (games, moves, seconds, stage), its learning curve
    `points`, its `folder`, and `stop()`. The names follow Stable-Baselines3 where they mean the same.

    An error in a callback ends the training without saving; a resumed session continues from the last checkpoint.

    >>> class StopAtGoal(Callback):
    ...     def on_log(self, session, point):
    ...         if point.score_mean > 100_000:
    ...             session.stop()
    """

    def on_training_start(self, session: "TrainingSession") -> None:
        """Training starts, or continues after a pause."""

    def on_games_end(self, session: "TrainingSession") -> bool | None:
        """Some games have ended.

        Called several times a second, from the threads that played them, maybe from several at once.

        Returns:
            False to stop the training; True or None to continue.
        """

    def on_log(self, session: "TrainingSession", point: TrainingPoint) -> None:
        """The learning curve has a new row, after every `curve_games` games.

        Called from a thread that played.
        """

    def on_evaluation(self, session: "TrainingSession", point: EvaluationPoint) -> None:
        """The network was evaluated."""

    def on_starts_collected(self, session: "TrainingSession") -> bool | None:
        """Some games have been played to collect start boards for the next stage.

        Called like `on_games_end`.

        Returns:
            False to stop the training; True or None to continue.
        """

    def on_stage_start(self, session: "TrainingSession", point: StagePoint) -> None:
        """A later stage starts, where stages are trained one after the other."""

    def on_save_failed(self, session: "TrainingSession", error: FileError) -> None:
        """A checkpoint or a row of the learning curve could not be written; training continues.

        Rows are kept in memory, and written with the next one. A checkpoint is tried again after half a minute of
        training at the latest. Called for every attempt that fails, maybe from a thread that played.
        """

    def on_save_recovered(self, session: "TrainingSession") -> None:
        """Everything that could not be written before is written now."""

    def on_stop_requested(self, session: "TrainingSession") -> None:
        """Ctrl-C, SIGTERM or SIGHUP: the session stops after the current games, and saves."""

    def on_training_end(self, session: "TrainingSession") -> None:
        """Training has ended, and model and checkpoint are saved."""


Callbacks: TypeAlias = Callback | Iterable[Callback] | None


class CallbackList(Callback):
    """Several callbacks as one, called in their order; one of them is enough to stop the training."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self.callbacks = list(callbacks)

    def on_training_start(self, session: "TrainingSession") -> None:
        """Call `on_training_start` of every callback."""
        for callback in self.callbacks:
            callback.on_training_start(session)

    def on_games_end(self, session: "TrainingSession") -> bool:
        """Call `on_games_end` of every callback."""
        answers = [callback.on_games_end(session) for callback in self.callbacks]
        return False not in answers

    def on_log(self, session: "TrainingSession", point: TrainingPoint) -> None:
        """Call `on_log` of every callback."""
        for callback in self.callbacks:
            callback.on_log(session, point)

    def on_evaluation(self, session: "TrainingSession", point: EvaluationPoint) -> None:
        """Call `on_evaluation` of every callback."""
        for callback in self.callbacks:
            callback.on_evaluation(session, point)

    def on_starts_collected(self, session: "TrainingSession") -> bool:
        """Call `on_starts_collected` of every callback."""
        answers = [callback.on_starts_collected(session) for callback in self.callbacks]
        return False not in answers

    def on_stage_start(self, session: "TrainingSession", point: StagePoint) -> None:
        """Call `on_stage_start` of every callback."""
        for callback in self.callbacks:
            callback.on_stage_start(session, point)

    def on_save_failed(self, session: "TrainingSession", error: FileError) -> None:
        """Call `on_save_failed` of every callback."""
        for callback in self.callbacks:
            callback.on_save_failed(session, error)

    def on_save_recovered(self, session: "TrainingSession") -> None:
        """Call `on_save_recovered` of every callback."""
        for callback in self.callbacks:
            callback.on_save_recovered(session)

    def on_stop_requested(self, session: "TrainingSession") -> None:
        """Call `on_stop_requested` of every callback."""
        for callback in self.callbacks:
            callback.on_stop_requested(session)

    def on_training_end(self, session: "TrainingSession") -> None:
        """Call `on_training_end` of every callback."""
        for callback in self.callbacks:
            callback.on_training_end(session)


def as_callback(callbacks: Callbacks) -> Callback:
    """One callback for a callback, several of them, or none.

    Raises:
        UsageError: Something else was given.
    """
    if isinstance(callbacks, Callback):
        return callbacks
    given = [] if callbacks is None else list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
    for callback in given:
        if not isinstance(callback, Callback):
            raise UsageError(f"callbacks: {callback!r} is not a tilewright Callback")
    return CallbackList(given)
