"""From a model file to a sampler and a start: the law, its gradient, and the sampler's options by name."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import Any

from orthodrome.errors import BadInput
from orthodrome.jobs.sample.job import SampleJob

LARGEST = 64
"""The longest vector that is tried where the file gives no start."""


def law_of(found: dict[str, Any], path: Path) -> Any:
    """Return `target` or `posterior` of the file; None if it has neither but makes its own sampler or gradient."""
    both = [name for name in ("target", "posterior") if name in found]
    if len(both) == 2:
        raise BadInput(f"{path} defines both `target` and `posterior`; which of them? keep one")
    if not both:
        if "sampler" in found or "gradient" in found:
            return None
        raise BadInput(
            f"{path} defines neither `target` nor `posterior`: write target = Target(manifold, logdensity), or "
            "posterior = Posterior(manifold, logprior, loglikelihood, data)"
        )
    law = found[both[0]]
    from orthodrome.targets import EmbeddedLaw

    if isinstance(law, type) or not isinstance(law, EmbeddedLaw):
        raise BadInput(f"`{both[0]}` in {path} is {law!r:.60}; it must be a Target or a Posterior")
    return law


def sampler_of(job: SampleJob, found: dict[str, Any], path: Path) -> Any:
    """Return the sampler that the job asks for, or that the file makes."""
    law = law_of(found, path)
    if job.sampler is None and "sampler" in found:
        if job.set or job.gradient or job.batch_size:
            raise BadInput(f"{path} makes its own sampler: set its options there, or choose one with --sampler")
        sampler = found["sampler"]
    else:
        sampler = built(job, found, law, path)
    if job.tempering is None:
        return sampler
    from orthodrome.samplers import ExactSampler, Tempering

    if not isinstance(sampler, ExactSampler):
        raise BadInput(f"--tempering needs an exact sampler such as GeodesicNUTS, not {type(sampler).__name__}")
    return Tempering(sampler, num_replicas=job.tempering)


def built(job: SampleJob, found: dict[str, Any], law: Any, path: Path) -> Any:
    """Return a sampler by its name and options."""
    from orthodrome import samplers

    name = job.sampler or "GeodesicNUTS"
    kind = getattr(samplers, name)
    fields = {field.name: field for field in dataclasses.fields(kind) if field.name != "compiled"}
    given = options_of_text(job.set, found, path)
    if unknown := [key for key in given if key not in fields]:
        there = ", ".join(key for key in fields if key not in ("gradient", "target"))
        raise BadInput(f"--set {unknown[0]}: {name} has no such option; it has {there}")
    if "gradient" in fields and "gradient" not in given:
        given["gradient"] = gradient_of(job, found, law, path)
    if "target" in fields and "target" not in given:
        given["target"] = required(law, path)
    open_ = [
        key
        for key, field in fields.items()
        if key not in given and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    if open_:
        raise BadInput(f"{name} needs {', '.join(open_)}: define it in {path} and say --set '{open_[0]}=NAME'")
    return kind(**given)


def options_of_text(text: str, found: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return options from 'name=value, ...'; a value is a Python literal or a name that the file defines."""
    try:
        call = ast.parse(f"f({text})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        call = None
    if not isinstance(call, ast.Call) or call.args or any(part.arg is None for part in call.keywords):
        raise BadInput(f"--set is {text!r:.60}; write it as 'step_size=0.1, max_depth=8'")
    return {str(part.arg): value_of(part, found, path) for part in call.keywords}


def value_of(part: ast.keyword, found: dict[str, Any], path: Path) -> Any:
    """Return the value of one option."""
    if isinstance(part.value, ast.Name):
        if part.value.id not in found:
            raise BadInput(f"--set {part.arg}={part.value.id}: {path} defines no `{part.value.id}`")
        return found[part.value.id]
    try:
        return ast.literal_eval(part.value)
    except (ValueError, TypeError, MemoryError, RecursionError):
        text = ast.unparse(part.value)
        raise BadInput(
            f"--set {part.arg}={text:.40}: write a number, a text, a list or a dict, or a name that {path} defines"
        ) from None


def required(law: Any, path: Path) -> Any:
    """Return the law, or raise if the file has none."""
    if law is None:
        raise BadInput(f"{path} defines neither `target` nor `posterior`, which this sampler needs")
    return law


def gradient_of(job: SampleJob, found: dict[str, Any], law: Any, path: Path) -> Any:
    """Return the gradient estimator."""
    from orthodrome import gradients
    from orthodrome.targets import Posterior

    if job.gradient is None and job.batch_size is None:
        return found["gradient"] if "gradient" in found else gradients.FullGradient(required(law, path))
    if job.gradient == "full":
        return gradients.FullGradient(required(law, path))
    if not isinstance(law, Posterior):
        raise BadInput(f"minibatches are of the rows of a Posterior, and {path} defines no `posterior`")
    size = job.batch_size or law.num_data
    if size > law.num_data:
        raise BadInput(f"--batch-size is {size}, but there are {law.num_data} rows")
    if job.gradient == "svrg":
        return gradients.SVRG(law, batch_size=size)
    if job.gradient == "control-variate":
        if "center" not in found:
            raise BadInput(f"--gradient control-variate needs a point of high density: define `center` in {path}")
        return gradients.ControlVariate(law, found["center"], batch_size=size)
    return gradients.Minibatch(law, batch_size=size)


def start_of(job: SampleJob, found: dict[str, Any], sampler: Any, path: Path) -> Any:
    """Return the file's start, or the shape of random points where the density takes one shape only."""
    if "start" in found:
        return found["start"]
    if not sampler.compiled:
        return None
    import jax

    shapes: list[tuple[int, ...]] = []
    law = law_of(found, path)
    for shape in [(), *((size,) for size in range(1, LARGEST + 1))]:
        point = jax.ShapeDtypeStruct(shape, job.dtype)
        try:
            fits = law is not None and jax.eval_shape(law.embedded_logdensity, point).shape == ()
        except Exception:  # whatever a user's function raises at a shape that it does not take
            fits = False
        shapes += [shape] if fits else []
    if len(shapes) == 1:
        return jax.ShapeDtypeStruct(shapes[0], job.dtype)
    raise BadInput(
        f"{path} defines no `start`, and the density does not say the shape of the parameters: write start = a point, "
        "or jax.ShapeDtypeStruct((3,), 'float32') (a dict of them for a Product) for random ones"
    )
