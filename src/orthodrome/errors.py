"""The exceptions: each says what, where, by how much, and what to do.

Compiled code never raises; the doors (`sample`, `fit`, the command line) check before, and the run loop looks at
`Info` between chunks.
"""

from __future__ import annotations

from typing import Any


class OrthodromeError(Exception):
    """The base of all: catch it to catch every error this package raises on purpose."""


class BadInput(OrthodromeError, ValueError):
    """A setting, start point, density or table that cannot be right."""


class NotOnManifold(BadInput):
    """A point that is off its manifold by more than the tolerance."""


class Unsupported(OrthodromeError, TypeError):
    """A sampler asked to work on a space it does not work on."""


class CheckpointError(OrthodromeError):
    """A checkpoint that cannot be read, written, or does not belong to this run."""


class Diverged(OrthodromeError):
    """A run that left the numbers; what was drawn before is saved and named."""

    def __init__(self, chain: int, step: int, cause: str) -> None:
        super().__init__(f"chain {chain} failed at step {step}: {cause}")
        self.chain, self.step, self.cause = chain, step, cause
        self.draws: Any = None  # the DataTree of what was drawn before, filled in by `sample`


class OrthodromeWarning(UserWarning):
    """Sound to go on, but the user should know."""


class NotConverged(OrthodromeWarning):
    """A run ended, but its draws are not (yet) those of its law."""
