"""Section 6 of Liu, Zhu & Song (2016) names where stochastic gradients on manifolds could be used; three of these.

A network of 10,000 nodes on a Stiefel manifold by batches of its pairs, a mixture of directions on spheres by batches
of rows, and matrices completed with orthonormal factors by batches of entries. The paper has no numbers for them: data
are planted, but for images of digits, and every model is judged beside an exact or a classical one.
"""

from __future__ import annotations

from typing import Any

from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.minibatches.directions import direction_claims
from orthodrome.experiments.support.minibatches.matrices import matrix_claims
from orthodrome.experiments.support.minibatches.network import network_claims

NAME = "minibatch-models"
TITLE = "A large network, a mixture of directions and matrix completion, from minibatches"
PAPER = "Liu, Zhu & Song 2016, section 6"
DATA = None


def run(context: Context) -> list[Claim]:
    """Fit the models, write the table, and return the claims."""
    claims = [*network_claims(context), *direction_claims(context), *matrix_claims(context)]
    context.save_table("claims", [row(claim) for claim in claims])
    return claims


def row(claim: Claim) -> dict[str, Any]:
    """Return a claim as a row of the table."""
    return {"id": claim.id, "text": claim.text, "measured": str(claim.measured), "holds": claim.holds}
