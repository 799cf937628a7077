"""`sample`: from a sampler and a start to draws.

A run is a warm-up (dropped unless `keep_warmup`; samplers without a step size are tuned in it) and the draws, both
carried forward in chunks of about half a second by one compiled program each; everything that is not sampling happens
between chunks.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jax.sharding import Mesh

import orthodrome.run.parallel as parallel
from orthodrome import doors
from orthodrome.core.garbage import collected_later
from orthodrome.errors import Diverged, OrthodromeWarning
from orthodrome.run.conduct import Conductor
from orthodrome.run.extras import add_groups, check_pointwise
from orthodrome.run.interrupt import Interruption
from orthodrome.run.journal import Journal
from orthodrome.run.opening import check_same, open_checkpoint, open_draws
from orthodrome.run.progress import Progress, new_progress
from orthodrome.run.setup import Plan, set_up
from orthodrome.run.stop import Stop
from orthodrome.run.temperature import temperatures
from orthodrome.samplers.contract import Sampler
from orthodrome.samplers.first_choice import sampler_for
from orthodrome.storage import draws
from orthodrome.storage.checkpoint import Standing
from orthodrome.targets import Posterior, Target
from orthodrome.tuning.tuner import Tuner

if TYPE_CHECKING:
    import xarray


def sample(
    sampler: Sampler | Target | Posterior,
    start: Any,
    *,
    seed: int,
    num_chains: int = 4,
    num_warmup: int = 1000,
    num_draws: int = 1000,
    thin: int = 1,
    keep_warmup: bool = False,
    keep_warmup_stats: bool = False,
    progress: bool = True,
    checkpoint: str | Path | None = None,
    checkpoint_every: float = 10.0,
    store: str | Path | None = None,
    mesh: Mesh | None = None,
    stop_when: Stop | None = None,
    dims: draws.Dims = None,
    coords: draws.Coords = None,
    log_likelihood: bool = False,
    about: Mapping[str, Any] | None = None,
    check: bool = True,
    gather: bool = True,
) -> xarray.DataTree:
    """Run a sampler on several chains and return its draws.

    sampler: a configured sampler; a `Target` or `Posterior` itself is drawn from by `GeodesicHMC`, tuned in warm-up
    start: one chain's position in the user's coordinates; a list of one per chain; or `jax.ShapeDtypeStruct`s for
        random points; None for a sampler that Python steps and that makes its own start
    seed: a whole number from 0; it fixes every random number of the run
    num_chains: the number of independent chains
    num_warmup: transitions before the first draw, in which what the sampler leaves at None is learnt
    num_draws: draws per chain
    thin: transitions for each draw
    keep_warmup: keep the draws of the warm-up and their statistics
    keep_warmup_stats: keep the statistics of the warm-up alone
    progress: whether to show a progress bar
    checkpoint: a folder; calling again with the same arguments goes on from the last commit, and a larger `num_draws`
        extends a finished run; None: no checkpoint
    checkpoint_every: seconds between commits
    store: a Zarr store on disk for the draws, read when they are used, so that memory does not grow; None: in memory
    mesh: whose devices to spread the chains over; None: all, of all processes (see `use_hosts`)
    stop_when: `Stop(ess=..., rhat=...)`, a rule for an early end; None: all draws are made
    dims, coords: names for the axes of the parameters and labels along them, as in ArviZ
    log_likelihood: add the log likelihood of every datum at every draw (of a `Posterior`)
    about: plain numbers and texts that are kept in the checkpoint; `read_about` returns them
    check: warn (`NotConverged`) at the end of a run of 100 draws or more that did not converge (no movement, R-hat,
        ESS, divergences), and if the temperature of stochastic gradients is wrong, on average or along any direction
    gather: of several processes, whether each returns the draws of all; otherwise each returns those of its own chains
    returns: an `xarray.DataTree` with the groups `posterior` (the draws in the user's coordinates) and `sample_stats`
    """
    sampler = sampler_for(sampler) if isinstance(sampler, Target | Posterior) else sampler
    team = parallel.Team()
    with contextlib.ExitStack() as stack:
        if not team.first:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", OrthodromeWarning)  # the first process says it
        stack.enter_context(team.sharing_failures())
        doors.check_contract(sampler)
        doors.check_numbers(num_chains, num_warmup, num_draws, thin, seed)
        doors.check_interval(checkpoint_every)
        doors.check_path("checkpoint", checkpoint)
        doors.check_path("store", store)
        doors.check_is("mesh", mesh, Mesh, "a jax.sharding.Mesh")
        doors.check_is("stop_when", stop_when, Stop, "a Stop(ess=..., rhat=...)")
        doors.check_is("about", about, Mapping, "a dict of plain numbers and texts")
        if log_likelihood:
            check_pointwise(doors.density_of(sampler))
        numbers = (int(seed), int(num_chains), tuning_steps(sampler, num_warmup), int(num_draws), int(thin))
        plan = Plan(*numbers, keep_warmup, keep_warmup_stats)
        bar = stack.enter_context(new_progress(progress and team.first))
        interruption = stack.enter_context(Interruption())
        locks = stack.enter_context(contextlib.ExitStack())
        given = None if sampler.spreads_data else sampler  # whose processes have other data
        check_same(team, {"sampler": given, "start": start, "settings": tuple(plan)})
        sampler = parallel.summing_at_once(sampler)
        mesh = spread_chains(sampler, num_chains, mesh, bar)
        if sampler.compiled:
            bar.compiling()
        with collected_later():
            setup = set_up(sampler, start, plan, mesh)
        shapes = {name: leaf.shape[1:] for name, leaf in draws.named_leaves(setup.positions).items()}
        draws.check_labels(shapes, dims, coords)
        if checkpoint is not None:
            doors.check_resumable(setup.sampler)
        held = open_draws(checkpoint, store, (dims, coords), locks, team, setup.spread, gather)
        devices = parallel.num_devices(mesh or parallel.rows_mesh(sampler))
        saved = open_checkpoint(checkpoint, checkpoint_every, setup, plan, devices, held, about, team)
        journal = Journal(watched_folder(checkpoint, store) if team.first else None, bar)
        locks.callback(journal.close)
        conductor = Conductor(setup, plan, mesh, held, saved, bar, interruption, stop_when, team, {}, journal)
        tree = carry_out(conductor)
    if check and team.first and not tree.attrs["interrupted"]:
        from orthodrome.diagnostics.verdict import warn_not_converged

        warn_not_converged(tree)
    return add_groups(tree, sampler, log_likelihood)


def spread_chains(sampler: Sampler, num_chains: int, mesh: Any, bar: Progress) -> Any:
    """Return the mesh of the chains: None on one device, where Python steps them, and where rows are spread instead."""
    if not sampler.compiled or parallel.rows_mesh(sampler) is not None:
        return None
    if idle := parallel.idle_devices(num_chains, mesh):
        bar.say(f"{idle} device(s) stay idle: {num_chains} chains cannot be spread evenly over more")
    return parallel.chain_mesh(num_chains, mesh)


def tuning_steps(sampler: Sampler, num_warmup: int) -> int:
    """Return the length of the warm-up, which an `Adapted` and a sampler that tunes itself set themselves."""
    own = sampler.num_warmup
    return int(num_warmup if own is None else own)


def watched_folder(checkpoint: str | Path | None, store: str | Path | None) -> Path | None:
    """Return the folder in which the run can be watched: its checkpoint, else its store, if it has one."""
    place = checkpoint if checkpoint is not None else store
    return None if place is None else Path(place)


def carry_out(conductor: Conductor) -> xarray.DataTree:
    """Run from the start or the last commit, save, and return the draws."""
    saved, held = conductor.checkpoint, conductor.draws
    standing = begin(conductor)
    conductor.team.meet()  # all have found where the run stands
    if saved is not None and already_done(conductor, standing):
        return held.tree()
    try:
        standing, reason = conductor.run(standing)
    except Diverged as failure:
        conductor.journal.tell("end", reason="diverged")
        held.finish(attributes(conductor, "diverged"))
        failure.draws = held.tree()
        raise
    if saved is not None and saved.number == 0:
        saved.commit(conductor.own(standing))  # a store that looks finished must never be without a commit
    if held.count:
        held.finish(attributes(conductor, reason) | heat(conductor, standing))
    if saved is not None:
        saved.commit(conductor.own(standing), "" if reason == "interrupted" else reason)
    conductor.journal.tell("end", reason=reason, phase=standing.phase, done=standing.done)
    if reason == "interrupted":
        tell_interrupted(conductor, standing)
        return held.tree()
    return held.tree()


def heat(conductor: Conductor, standing: Standing) -> dict[str, float]:
    """Return what the tree says about the temperature, of a sampler that has one."""
    if standing.phase != "draws" or not conductor.draws.holds("sample_stats/temperature"):
        return {}
    plan, sampler = conductor.plan, conductor.setup.tuned(standing.tuned)
    steps = plan.num_warmup + plan.thin * np.arange(1, standing.done + 1) - 1
    state = standing.state if conductor.team.processes == 1 else parallel.whole(standing.state)
    return temperatures(sampler, conductor.setup.positions, state, steps, plan.seed)


def begin(conductor: Conductor) -> Standing:
    """Return where the run stands: at its last commit, or at its start."""
    setup, saved = conductor.setup, conductor.checkpoint
    whole = setup.state if conductor.team.processes == 1 else parallel.whole(setup.state)
    standing = saved.resume(setup.engine.own(setup.state), whole, setup.inner) if saved is not None else None
    if saved is None or standing is None:
        return Standing("warmup", 0, setup.state)
    conductor.bar.say(f"going on from {standing.phase} {standing.done} of the checkpoint in {saved.folder}")
    return standing._replace(state=setup.engine.join(standing.state))


def already_done(conductor: Conductor, standing: Standing) -> bool:
    """Return whether the commit holds all that is asked for."""
    finished = conductor.checkpoint.finished if conductor.checkpoint is not None else ""
    enough = standing.done >= conductor.plan.num_draws or finished == repr(conductor.stop)
    return standing.phase == "draws" and bool(finished) and enough


def tell_interrupted(conductor: Conductor, standing: Standing) -> None:
    """Warn that there are fewer draws than asked for; raise KeyboardInterrupt if there are none to return."""
    plan, phase, count = conductor.plan, standing.phase, conductor.draws.count
    if not (count.get("draws", 0) or (plan.keep_warmup and count)):
        raise KeyboardInterrupt
    planned = plan.num_draws if phase == "draws" else plan.num_warmup
    text = f"interrupted in {phase} after {standing.done} of {planned}, which are kept"
    warnings.warn(text, OrthodromeWarning, stacklevel=4)


def attributes(conductor: Conductor, reason: str) -> dict[str, Any]:
    """Return the attributes of the tree, which describe the run in plain numbers and strings."""
    setup, plan = conductor.setup, conductor.plan
    sampler = setup.sampler.sampler if isinstance(setup.sampler, Tuner) else setup.sampler
    manifold = sampler.manifold
    kinds = {} if manifold is None else draws.named_manifolds(manifold, setup.positions)
    return {
        "inference_library": "orthodrome",
        "inference_library_version": importlib.metadata.version("orthodrome"),
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "sampler": type(sampler).__name__,
        "manifold": "" if manifold is None else doors.describe(manifold),
        "manifolds": json.dumps(kinds),
        "held": json.dumps(sampler.held),
        "seed": plan.seed,
        "thin": plan.thin,
        "tuning_steps": plan.num_warmup,
        "warmup_time": conductor.seconds.get("warmup", 0.0),
        "sampling_time": conductor.seconds.get("draws", 0.0),
        "ended": reason,
        "interrupted": int(reason == "interrupted"),
    } | ({} if (aim := sampler.target_acceptance) is None else {"target_acceptance": float(aim)})
