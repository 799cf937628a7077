"""`orthodrome check`: is the SDE, the recipe or the kernel that a file defines right?

The file defines one or more of

    drift, diffusion (or None), logdensity, points      an SDE: does it keep exp(logdensity)?
    recipe, points                                      a recipe: are D, Q and Gamma as the theorem wants them?
    sampler, exact_draws [, functionals, means]         a kernel: does it keep the law of the draws?
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthodrome.core.display import shown
from orthodrome.errors import BadInput
from orthodrome.jobs.model_file import explained, load_model, needed
from orthodrome.jobs.options import check_numbers, option

if TYPE_CHECKING:
    from rich.console import Console


@dataclasses.dataclass(frozen=True)
class CheckJob:
    """The settings of a check. Each field says what it is in its `help`."""

    num_steps: int = option(20, "Transitions of each chain, of a kernel.", least=1, most=1_000_000)
    level: float = option(0.01, "The probability of a false alarm, of a kernel.", least=1e-9, most=0.5)
    tolerance: float | None = option(None, "For the relative residuals of an SDE or a recipe (else chosen).")
    seed: int = option(0, "The seed of the transitions.")


def check(job: CheckJob, path: Path, console: Console) -> bool:
    """Check everything that the file defines, print what was found, and return whether all of it is right."""
    check_numbers(job)
    if job.tolerance is not None and job.tolerance <= 0:
        raise BadInput(f"--tolerance is {job.tolerance:g}; it must be above 0")
    found = load_model(path)
    kinds = {"recipe": recipe, "drift": sde, "sampler": kernel}
    chosen = [(name, kinds[name]) for name in kinds if name in found]
    if not chosen:
        raise BadInput(
            f"{path} defines nothing to check: an SDE (drift, diffusion, logdensity, points), a recipe (recipe, "
            "points) or a kernel (sampler, exact_draws)"
        )
    verdicts = []
    for name, look in chosen:
        with explained(path):
            report = look(job, found, path)
        verdicts.append(bool(report.ok))
        console.print(f"{ {'drift': 'SDE'}.get(name, name) }: {shown(str(report))}", soft_wrap=True)
    return all(verdicts)


def tolerance(job: CheckJob) -> dict[str, Any]:
    """Return the tolerance if the job gives one."""
    return {} if job.tolerance is None else {"tolerance": job.tolerance}


def recipe(job: CheckJob, found: dict[str, Any], path: Path) -> Any:
    """Check a recipe at the file's points."""
    from orthodrome.checks import check_recipe

    return check_recipe(found["recipe"], needed(found, "points", path, POINTS), **tolerance(job))


def sde(job: CheckJob, found: dict[str, Any], path: Path) -> Any:
    """Check an SDE at the file's points."""
    from orthodrome.checks import check_sde

    hint = "an SDE is checked against it: z -> log density, up to a constant"
    density = needed(found, "logdensity", path, hint)
    for name in ("drift", "diffusion", "logdensity"):
        if found.get(name) is not None and not callable(found[name]):
            raise BadInput(f"`{name}` is {found[name]!r:.60}; it must be a function of z")
    points = needed(found, "points", path, POINTS)
    return check_sde(found["drift"], found.get("diffusion"), density, points, **tolerance(job))


def kernel(job: CheckJob, found: dict[str, Any], path: Path) -> Any:
    """Check a kernel with the file's exact draws."""
    from orthodrome.checks import check_kernel

    hint = "independent draws of the law, stacked along a first axis: a chain starts at each"
    draws = needed(found, "exact_draws", path, hint)
    own = {name: found[name] for name in ("functionals", "means") if name in found}
    return check_kernel(found["sampler"], draws, num_steps=job.num_steps, seed=job.seed, level=job.level, **own)


POINTS = "some 10 to 100 typical points, stacked along a first axis"
