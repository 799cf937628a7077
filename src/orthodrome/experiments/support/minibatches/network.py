"""A network of 10,000 nodes by batches of its pairs, beside the full model of a thousand of its nodes.

The network is drawn from the eigenmodel itself, block by block, so that no matrix of all pairs is ever written down.
Held out are pairs among the chosen thousand nodes, as many edges as others; both models are asked for the same ones.
The large one has seen ten times as many neighbours of every node. The time of a draw, of one step here, is that of the
processor, with batches of one size: for four times the nodes (sixteen times the pairs), and for more edges between the
same nodes. A draw moves every row of the frame, so it grows with the nodes whatever the batch: the time with a batch of
nearly nothing is taken off, and what is left is what the pairs cost.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from scipy.special import ndtr

from orthodrome.errors import OrthodromeWarning
from orthodrome.experiments.support.claims.claim import still_moving, undecided
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.gradients.control_variate import Anchor
from orthodrome.models.network import NetworkEigenmodel
from orthodrome.models.network.pair_gradient import pair_gradient
from orthodrome.models.network.pairs import SparseNetwork
from orthodrome.models.network.starts import random_starts
from orthodrome.samplers.stochastic.gsgnht import GSGNHT

RANK, INTERCEPT, STRENGTH = 3, -3.2, (0.53, 0.43, -0.48)
"""The planted law: eigenvalues are STRENGTH times the number of nodes."""
BLOCK, MEMORY = 500, 2.0
"""Rows drawn at a time, and the largest memory use in gigabytes."""
DRAWS, REPEATS = 10, 40
"""Draws of a run that is timed, and how often it is repeated."""
HARDLY_ANY = 100
"""Edges in a batch that adds next to nothing to a draw."""
SAME = 1.25
"""How much longer counts as equally long where two differences of times are compared."""
SMALLER, LONGER = 4, 1.5
"""How many times fewer nodes the network has with which the time of a draw is compared, and how much longer it may
take: a draw touches as many numbers of both, but those of the large one are not all in the processor's cache."""


class Planted(NamedTuple):
    """Pairs with an edge (E, 2), and the held-out pairs (n, 2) with whether they have one."""

    edges: Any
    held_out: Any
    joined: Any


def planted(nodes: int, subset: int, held_out: int, seed: int) -> Planted:
    """Draw a network, and choose held-out pairs among its first `subset` nodes."""
    rng = np.random.default_rng([seed, nodes])
    frame = np.linalg.qr(rng.normal(size=(nodes, RANK)))[0]
    values = np.array(STRENGTH) * nodes
    found = []
    for first in range(0, nodes, BLOCK):
        rows = frame[first : first + BLOCK]
        one, two = np.nonzero(rng.random((len(rows), nodes)) < ndtr((rows * values) @ frame.T + INTERCEPT))
        found.append(np.stack([one + first, two], axis=1)[one + first < two])
    edges = np.concatenate(found)
    inside = edges[edges[:, 1] < subset]
    chosen = inside[rng.permutation(len(inside))[:held_out]]
    known = set(map(tuple, inside.tolist()))
    others: list[tuple[int, int]] = []
    while len(others) < len(chosen):
        i, j = sorted(rng.integers(subset, size=2).tolist())
        if i < j and (i, j) not in known:
            others.append((i, j))
            known.add((i, j))
    pairs = np.concatenate([chosen, np.array(others)])
    return Planted(edges, pairs, np.arange(len(pairs)) < len(chosen))


def network_claims(context: Context) -> list[Claim]:
    """Fit both models, and return the claims on AUC, memory and time."""
    nodes, subset, held_out = context.pick(quick=(600, 200, 60), paper=(10_000, 1_000, 1_000))
    data = planted(nodes, subset, held_out, context.seed)
    short: dict[str, Any] = context.pick(
        quick={"num_warmup": 150, "num_draws": 50}, paper={"num_warmup": 300, "num_draws": 300}
    )
    common: dict[str, Any] = {"num_chains": 2, "random_state": context.seed, "progress": context.progress}
    batches: dict[str, Any] = {"method": "gsgnht", "batch_size": context.pick(2_000, 10_000), "num_steps": 5}
    with warnings.catch_warnings():  # chains of this length need not have converged: what counts is the prediction
        warnings.simplefilter("ignore", OrthodromeWarning)
        large = NetworkEigenmodel(RANK, **batches, **short, **common)
        large.fit(data.edges, missing=data.held_out, nodes=range(nodes))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        inside = data.edges[data.edges[:, 1] < subset]
        small = NetworkEigenmodel(RANK, restarts=0, tempering=None, num_steps=10, **short, **common)
        small.fit(inside, missing=data.held_out, nodes=range(subset))
    scores = {"batches": large.score(data.held_out, data.joined), "full": small.score(data.held_out, data.joined)}
    trace = np.asarray(large.draws_["sample_stats"]["temperature"], float)
    heat = float(trace.mean())
    warm = Claim(
        "network-temperature",
        "the kinetic temperature of the network's chains is within 5 % of 1",
        None,
        heat,
        abs(heat - 1) < 0.05,
    )
    text = f"{nodes:,} nodes by batches of pairs: held-out AUC at least that of the full model of {subset:,} of them"
    return [
        Claim("network-auc", text, "section 6", scores, scores["batches"] >= scores["full"]),
        still_moving(warm, trace),
        Claim("network-memory", f"memory below {MEMORY:g} GB", None, memory, memory < MEMORY),
        *time_claims(nodes, data.edges, batches["batch_size"]),
    ]


def time_claims(nodes: int, edges: Any, batch_size: int) -> list[Claim]:
    """Return the claims on the processor time of a draw."""
    fewer = nodes // SMALLER
    inside = edges[edges[:, 1] < fewer]
    thinned = edges[:: max(1, len(edges) // len(inside))]
    size = min(batch_size, len(inside))
    cases = {"all": (nodes, edges), "fewer edges": (nodes, thinned), "fewer nodes": (fewer, inside)}
    bare = {f"{name}, bare": ten_draws(*cases[name], HARDLY_ANY) for name in ("fewer edges", "fewer nodes")}
    found = seconds({name: ten_draws(*case, size) for name, case in cases.items()} | bare)
    pairs, ratio = SMALLER**2, found["all"] / found["fewer nodes"]
    text = f"with {pairs} times the pairs ({SMALLER} times the nodes) a draw takes at most half as long again"
    other = (
        f"with {len(edges) / len(thinned):.0f} times the edges of the same nodes a draw takes at most "
        "half as long again"
    )
    same = found["all"] / found["fewer edges"]
    return [
        Claim("network-time-pairs", text, None, found | {"ratio": ratio}, ratio <= LONGER),
        batch_claim(found, pairs, size),
        Claim("network-time-edges", other, None, found | {"ratio": same}, same <= LONGER),
    ]


def batch_claim(found: dict[str, float], pairs: int, size: int) -> Claim:
    """Return the claim that what a batch adds to a draw does not depend on the number of pairs.

    found: processor seconds of a draw, with the batch and with one of hardly any pairs ("bare")
    pairs: how many times the pairs the large network has, and about as many edges ("fewer edges")
    size: edges in the batch
    """
    added = {name: found[name] - found[f"{name}, bare"] for name in ("fewer edges", "fewer nodes")}
    ratio = added["fewer edges"] / added["fewer nodes"]
    text = f"with {pairs} times the pairs and as many edges, what a batch adds to a draw, whose frame moves anyway, "
    text += f"takes at most {SAME:g} times as long"
    measured = found | {"added": added, "ratio": ratio}
    claim = Claim("network-time-batch", text, "independent of the number of pairs", measured, ratio <= SAME)
    if size < 10 * HARDLY_ANY:
        return undecided(claim, f"a batch of {size} edges adds too little to a draw to be measured")
    return claim


def ten_draws(nodes: int, edges: Any, batch_size: int) -> Callable[[], Any]:
    """Return a function that makes ten draws of one step, compiled."""
    network = SparseNetwork(tuple(range(nodes)), edges.astype(np.int32), np.zeros((0, 2), np.int32))
    x = jax.tree.map(jax.numpy.asarray, random_starts(nodes, RANK, 1, 0, "float32")[0])
    anchor = Anchor(x, jax.numpy.zeros(()), x)  # where it is makes no difference to the time
    sampler = GSGNHT(pair_gradient(network, "probit", batch_size, anchor), 1e-6, 1.0)
    keys = jax.random.split(jax.random.key(0), DRAWS)
    state = sampler.init(x, keys[0])
    draw = jax.jit(lambda sampler, key, state: sampler.step(key, state)[0])
    return lambda: jax.block_until_ready([draw(sampler, key, state) for key in keys])


def seconds(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the processor seconds of a draw, the best of many runs of ten.

    The cases take turns: a neighbour that fills the processor's caches for a while slows all of them.
    """
    best = dict.fromkeys(calls, np.inf)
    for turn in range(1 + REPEATS):
        for name, call in calls.items():
            began = time.process_time()
            call()
            spent = (time.process_time() - began) / DRAWS
            best[name] = min(best[name], spent) if turn else np.inf  # the first turn compiles
    return best
