"""The laws of the rows of one cluster, with the base measure of their parameters."""

from orthodrome.models.mixture.components.contract import Components
from orthodrome.models.mixture.components.counts import CategoricalComponents, CountRows
from orthodrome.models.mixture.components.gaussian import DenseRows, GaussianComponents
from orthodrome.models.mixture.components.sphere import VonMisesFisherComponents

__all__ = [
    "CategoricalComponents",
    "Components",
    "CountRows",
    "DenseRows",
    "GaussianComponents",
    "VonMisesFisherComponents",
]
