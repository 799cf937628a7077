"""Running samplers: `sample`, and what it is made of."""

from orthodrome.run.sample import sample
from orthodrome.run.stop import Stop

__all__ = ["Stop", "sample"]
