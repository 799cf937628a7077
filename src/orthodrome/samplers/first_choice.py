"""The sampler that a law is drawn with if none is named: `GeodesicHMC`, which learns all its settings in warm-up.

Self-tuned, it had more effective draws per second than `GeodesicNUTS` on every law that was measured (the six of
`benchmarks.exact`: spheres of 3 to 100 numbers, frames, a simplex; from 3 to 14 times in several runs, and 0.7 to 4.6
times per gradient): all chains take the same number of steps, so that none waits for another. Its trajectories have at
most 64 steps. Laws whose scales differ so much that longer ones are needed, and do so along directions that units per
element do not show, are those where the tree of `GeodesicNUTS`, of up to 1,024 steps, is worth its price.
"""

from __future__ import annotations

from orthodrome.gradients.full import FullGradient
from orthodrome.samplers.contract import ExactSampler
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.targets import Posterior, Target


def sampler_for(law: Target | Posterior) -> ExactSampler:
    """Return the exact sampler, with nothing set, that `sample` takes for a law."""
    return GeodesicHMC(FullGradient(law))
