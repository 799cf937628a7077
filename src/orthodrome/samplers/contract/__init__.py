"""The contracts of samplers: BlackJAX's `init` and `step`, and the facts that holders, tuners and doors read.

A sampler is a configured object (see `pytree`) and an argument of the compiled loop. `State` is a NamedTuple with a
field `position` (embedded); `Info` is a NamedTuple of a few numbers of fixed shape, with ArviZ's names where it has
one. The key is never stored in a state; `step` splits it once, at its top, into named keys.

Nobody asks for the class of a sampler. What others must know of it is a fact that it states (whether it is exact, what
is left for the warm-up to learn, at which temperature it runs); every fact has a default, and a holder passes on the
facts of what it holds. Four contracts add what the tuners need:

    ExactSampler         exact; its states have a log density: held by `Tempering`, tuned by `Adapted`
    TrajectorySampler    an exact sampler whose trajectory length can be learnt
    StochasticSampler    stochastic gradients, no Metropolis test: tuned by `StochasticAdapted`
    DiffusionSampler     exact transitions of a diffusion with estimated parameters: tuned by `AdaptedDiffusion`

and what they have in common, a step size and a temperature, is what `Scheduled` sets.

A sampler with `compiled = False` is stepped from Python (numba kernels, streams of data); see `PythonSampler`.
"""

from orthodrome.samplers.contract.diffusion import DiffusionSampler
from orthodrome.samplers.contract.exact import ExactGradientSampler, ExactSampler, TrajectorySampler
from orthodrome.samplers.contract.holder import Holder
from orthodrome.samplers.contract.python import PythonSampler
from orthodrome.samplers.contract.sampler import NOTHING, Sampler, SteppedSampler
from orthodrome.samplers.contract.stochastic import StochasticSampler

__all__ = [
    "NOTHING",
    "DiffusionSampler",
    "ExactGradientSampler",
    "ExactSampler",
    "Holder",
    "PythonSampler",
    "Sampler",
    "SteppedSampler",
    "StochasticSampler",
    "TrajectorySampler",
]
