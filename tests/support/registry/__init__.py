"""What the tests run over: MANIFOLDS, TARGETS with exact draws, SAMPLERS and ESTIMATORS with their facts.

A new manifold, law, sampler or estimator is one entry here and inherits every test that applies to it.
"""

from support.registry.estimators import ESTIMATORS
from support.registry.law import Law
from support.registry.manifolds import MANIFOLDS
from support.registry.samplers import SAMPLERS, Case
from support.registry.starts import STARTS
from support.registry.targets import ONE_PER_MANIFOLD, TARGETS

__all__ = ["ESTIMATORS", "MANIFOLDS", "ONE_PER_MANIFOLD", "SAMPLERS", "STARTS", "TARGETS", "Case", "Law"]
