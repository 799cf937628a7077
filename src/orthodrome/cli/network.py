"""`network fit | resume | show`: the eigenmodel of a network."""

from __future__ import annotations

from orthodrome.cli.fits import fit_commands
from orthodrome.jobs.network.job import NetworkJob

app = fit_commands(
    NetworkJob,
    "network",
    about="A low-rank model of a network: which edges are likely, and which nodes are alike.",
    rows="a line with the two ends of each edge",
    example="orthodrome network fit --input edges.csv --rank 3 --output fit",
    tables="parameters, nodes, unlikely-edges, likely-edges",
)
