"""Running samplers: `sample`, and what it is made of."""

from orthodrome.run.num_steps import choose_num_steps
from orthodrome.run.sample import sample
from orthodrome.run.stop import Stop

__all__ = ["Stop", "choose_num_steps", "sample"]
