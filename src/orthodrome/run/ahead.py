"""Compiling ahead: the program of the draws is compiled while that of the warm-up is compiled and runs.

Compiling takes most of a short run. What a program is depends on the shapes of its arguments alone, and those of the
tuned sampler are known before it is tuned (`Tuner.outline`). So both programs are traced and lowered here, one after
the other, and XLA compiles each in a thread of its own, for which Python does not wait until the phase begins. `jit`
finds what has been compiled for the same arguments, so that every call is as it would have been: which program runs
depends on nothing but the run, and the threads decide only when it is ready. While XLA is busy, Python imports what the
end of the run and its summary will need.

Over several processes, and where rows are spread over devices, each phase compiles when it begins.
"""

from __future__ import annotations

import importlib
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from orthodrome.run.engines.compiled import CompiledEngine
from orthodrome.run.setup import Plan, Setup
from orthodrome.storage.checkpoint import Standing

NEEDED_LATER = ("xarray", "orthodrome.diagnostics.verdict")
"""What the tree of the draws, the look at their convergence and their summary import."""


def compile_ahead(setup: Setup, plan: Plan, standing: Standing) -> dict[str, Future[Any]]:
    """Begin to compile the programs of a run that stands at its start; return what to wait for before each phase."""
    engine = setup.engine
    if not isinstance(engine, CompiledEngine) or standing.phase != "warmup" or standing.done or not engine.alone:
        return {}
    jobs: dict[str, Future[Any]] = {}
    pool = ThreadPoolExecutor(2, thread_name_prefix="orthodrome-compile")
    try:
        if plan.num_warmup:
            jobs["warmup"] = pool.submit(engine.lowered(setup.sampler, standing.state, 1).compile)
        same = not setup.tunes and plan.thin == 1 and plan.num_warmup
        outline = None if same or not plan.num_draws else setup.outline(standing.state)
        if outline is not None:
            inner = setup.inner(standing.state)
            jobs["draws"] = pool.submit(engine.lowered(engine.outlined(outline), inner, plan.thin).compile)
    finally:
        pool.shutdown(wait=False)
    for module in NEEDED_LATER:
        importlib.import_module(module)
    return jobs
