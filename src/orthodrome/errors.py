"""The exceptions of this package: each message says what is wrong, where, by how much, and what to do.

Compiled code never raises: the doors (`sample`, `fit`, the command line) check what comes in beforehand, and the run
loop looks at `Info` between chunks.
"""

from __future__ import annotations

from typing import Any


class OrthodromeError(Exception):
    """The base class of every error that this package raises deliberately."""


class BadInput(OrthodromeError, ValueError):
    """An invalid setting, start point, density or table."""


class NotOnManifold(BadInput):
    """A point that is off its manifold by more than the tolerance."""


class Unsupported(OrthodromeError, TypeError):
    """A sampler that was asked to work on a space it does not support."""


class CheckpointError(OrthodromeError):
    """A checkpoint or store that cannot be read or written, or does not belong to this run."""


class Diverged(OrthodromeError):
    """An error raised when a run meets a non-finite number; the draws made before it are kept.

    chain: the number of the chain
    step: the number of the transition, counted from the start of the run
    cause: what was non-finite, and what to do
    draws: the draws made before (a DataTree), filled in by `sample`
    """

    def __init__(self, chain: int, step: int, cause: str) -> None:
        super().__init__(f"chain {chain} failed at step {step}: {cause}")
        self.chain, self.step, self.cause = chain, step, cause
        self.draws: Any = None  # the DataTree of what was drawn before, filled in by `sample`


class OrthodromeWarning(UserWarning):
    """A warning about a run that is valid but needs the user's attention."""


class NotConverged(OrthodromeWarning):
    """A warning that the draws of a run have not converged to the target distribution."""
