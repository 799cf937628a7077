"""The check that a sampler's settings fit each other, the manifold and the data.

A sampler answers `supports(manifold)`, `problem()`, `problem_at(position)` and `resume_problem()` with what is wrong
and what to do, or None (`samplers.contract`); an estimator may have `problem()`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, TypeAlias

import jax
import numpy as np

from orthodrome.core.types import Tree
from orthodrome.doors.kinds import check_kinds
from orthodrome.doors.maps import check_is_step, check_maps
from orthodrome.doors.names import describe, factors, kinds, leaf_name, path_list, same_structure
from orthodrome.doors.users_code import explaining
from orthodrome.errors import BadInput, Unsupported
from orthodrome.gradients.estimator import GradientEstimator, SelfChecking
from orthodrome.gradients.full import FullGradient
from orthodrome.linear.linear_map import is_map
from orthodrome.linear.linear_step import LinearStep
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import Product, is_manifold
from orthodrome.samplers.contract import Sampler
from orthodrome.targets import Posterior, Target

PER_LEAF = frozenset({"friction", "mass", "preconditioner", "variance", "injected"})
"""Settings that are one number for all, one entry for every leaf, or an array of a leaf's shape."""

Probe: TypeAlias = GradientEstimator | Target | Posterior | None
"""Where the density can be asked: an estimator, a law, or nowhere."""


def parts(sampler: Any) -> Iterator[Any]:
    """Return the sampler and every configured object inside it (samplers it holds, estimators, targets)."""
    yield sampler
    for value in fields(sampler).values():
        if dataclasses.is_dataclass(value) and not isinstance(value, Manifold | type):
            yield from parts(value)


def fields(part: Any) -> dict[str, Any]:
    """Return the settings of a configured object by name."""
    return {f.name: getattr(part, f.name) for f in dataclasses.fields(part)} if dataclasses.is_dataclass(part) else {}


def density_of(sampler: Sampler) -> Target | Posterior | None:
    """Return the target that a sampler draws from, or None if it has no field of that kind."""
    return next((part for part in parts(sampler) if isinstance(part, Target | Posterior)), None)


def probe_of(sampler: Sampler) -> Probe:
    """Return what evaluates the density at the start: the sampler's own estimator, else its target, else None."""
    for part in parts(sampler):
        gradient = fields(part).get("gradient")
        if isinstance(gradient, Target | Posterior):  # a law that is meant as its own estimator
            return FullGradient(gradient)
        if isinstance(part, GradientEstimator) and not isinstance(part, Target | Posterior):
            return part
    return density_of(sampler)


def check_contract(sampler: Any) -> None:
    """Raise if something else was passed as the sampler, or if one of its settings is of a wrong kind."""
    if not isinstance(sampler, Sampler):
        kind = sampler.__name__ if isinstance(sampler, type) else type(sampler).__name__
        raise BadInput(
            f"the first argument of `sample` is {kind}, which is not a Sampler; pass a Target, a Posterior or a "
            "configured sampler such as GeodesicHMC(target), or derive your own from `orthodrome.samplers.Sampler`"
        )
    check_kinds(sampler)
    if sampler.manifold is not None:
        check_factors(sampler.manifold)


def check_factors(manifold: Any) -> None:
    """Raise unless a space is a manifold, and every leaf of a product is one."""
    if not isinstance(manifold, Manifold):
        raise BadInput(f"the manifold is {manifold!r}; it must be a Manifold, such as Sphere() or Product({{...}})")
    leaves = jax.tree_util.tree_leaves_with_path(factors(manifold), is_leaf=is_manifold)
    if not leaves:
        raise BadInput("the manifold is an empty Product; give one manifold for each parameter")
    for path, leaf in leaves:
        if not isinstance(leaf, Manifold) or isinstance(leaf, Product):
            given = f"the class {leaf.__name__}" if isinstance(leaf, type) else f"{leaf!r:.60}"
            remedy = "nest trees, not products" if isinstance(leaf, Product) else "give one, such as Sphere()"
            raise BadInput(f"`{leaf_name('Product', path)}` is {given}, which is not a manifold for one leaf; {remedy}")


def check_sampler(sampler: Sampler, positions: Tree) -> None:
    """Raise unless the settings fit each other, the manifold and the data."""
    manifold = sampler.manifold
    one = jax.tree.map(lambda leaf: leaf[0], positions)
    for part in parts(sampler):
        if isinstance(part, Sampler) and (problem := part.supports(manifold)) is not None:
            raise Unsupported(f"{type(part).__name__} does not work on {describe(manifold)}: {problem}")
        if isinstance(part, SelfChecking) and (problem := part.problem()) is not None:
            raise BadInput(f"{type(part).__name__}: {problem}")
        if isinstance(part, Sampler) and (problem := part.problem_at(one)) is not None:
            raise BadInput(f"{type(part).__name__}: {problem}")
        _check_schedules(part)
        _check_center(part, one, manifold)
        settings = fields(part)
        _check_step(settings.get("step_size"), one, manifold)
        if not is_map(part):
            check_maps(type(part).__name__, settings, one)
        for name in PER_LEAF & settings.keys():
            _check_per_leaf(f"{type(part).__name__}.{name}", settings[name], one)
        _check_count("num_steps", settings.get("num_steps"))
        _check_count("depth_limit", settings.get("depth_limit"))
        _check_count("leaf_steps", settings.get("leaf_steps"))
        _check_batch(settings.get("batch_size"), density_of(sampler))


def check_resumable(sampler: Sampler) -> None:
    """Raise unless a resumed run would see the same data as the run that was interrupted."""
    for part in parts(sampler):
        if isinstance(part, Sampler) and (problem := part.resume_problem()) is not None:
            raise BadInput(f"{type(part).__name__} with a checkpoint: {problem}")


def _check_schedules(part: Any) -> None:
    """Raise unless every schedule is a function of one number that returns one number."""
    for name, value in fields(part).items():
        if isinstance(part, Sampler) and name in ("step_size", "temperature") and callable(value):
            where = f"{type(part).__name__}.{name}"
            with explaining(where):
                given = jax.eval_shape(value, jax.ShapeDtypeStruct((), np.float32))
            if getattr(given, "shape", None) != ():
                raise BadInput(f"`{where}` returns {given}; a schedule returns one number for the number of a step")


def _check_center(part: Any, position: Tree, manifold: Manifold) -> None:
    if "center" not in fields(part) or isinstance(part, Manifold):
        return
    name, center = f"{type(part).__name__}.center", fields(part)["center"]
    if not same_structure(center, position):
        raise BadInput(f"`{name}` must be a position like `start`, with the same leaves")
    for (path, leaf), x in zip(jax.tree_util.tree_leaves_with_path(center), jax.tree.leaves(position), strict=True):
        where, array = leaf_name(name, path), np.asarray(leaf)
        if array.dtype.kind not in "fiu" or array.shape != x.shape or not np.all(np.isfinite(array)):
            raise BadInput(f"`{where}` is {array.dtype}{list(array.shape)}; it must be finite numbers like {x.shape}")


def _check_count(name: str, value: Any) -> None:
    if value is not None and not np.all((np.asarray(value) >= 1) & (np.asarray(value) % 1 == 0)):
        raise BadInput(f"{name} is {value}; it must be a whole number of at least 1")


def _check_batch(batch_size: Any, target: Any) -> None:
    if batch_size is not None and isinstance(target, Posterior) and batch_size > target.num_data:
        raise BadInput(f"batch_size is {batch_size}, but the data has {target.num_data} rows; take at most that many")


def _check_step(step_size: Any, position: Tree, manifold: Manifold) -> None:
    if step_size is None or callable(step_size):
        return
    given = jax.tree_util.tree_leaves_with_path(step_size, is_leaf=is_map)
    for path, step in given:
        check_is_step(leaf_name("step_size", path), step)
        _check_positive(leaf_name("step_size", path), step.size if is_map(step) else step)
    leaves = jax.tree_util.tree_leaves_with_path(position)
    shared = len(given) == 1 and given[0][0] == ()
    if not shared and not same_structure(jax.tree.map(lambda _: 0, step_size, is_leaf=is_map), position):
        raise BadInput(
            f"`step_size` has the leaves {path_list(p for p, _ in given)}, but the position has "
            f"{path_list(p for p, _ in leaves)}; give one number, or one per leaf of the position"
        )
    spread = given * (len(leaves) if shared else 1)
    for (path, x), (step_path, step), kind in zip(leaves, spread, kinds(manifold), strict=True):
        _check_step_shape(leaf_name("step_size", step_path), leaf_name("start", path), step, x, kind)


def _check_per_leaf(name: str, value: Any, position: Tree) -> None:
    given = jax.tree_util.tree_leaves_with_path(value, is_leaf=is_map)
    leaves = jax.tree_util.tree_leaves_with_path(position)
    shared = len(given) == 1 and given[0][0] == ()
    if not given:
        return
    if not shared and not same_structure(jax.tree.map(lambda _: 0, value, is_leaf=is_map), position):
        raise BadInput(
            f"`{name}` has the leaves {path_list(p for p, _ in given)}, but the position has "
            f"{path_list(p for p, _ in leaves)}; give one entry for all, or one per leaf"
        )
    for (path, entry), (leaf_path, x) in zip(given * (len(leaves) if shared else 1), leaves, strict=True):
        if not is_map(entry) and np.ndim(entry) and np.shape(entry) != x.shape:
            raise BadInput(
                f"`{leaf_name(name, path)}` has the shape {np.shape(entry)}, but `{leaf_name('start', leaf_path)}` has "
                f"{x.shape}; give one number, or one per element"
            )


def _check_positive(name: str, step: Any) -> None:
    values = np.asarray(step)
    if values.dtype.kind not in "fiu" or not np.all(np.isfinite(values)) or not np.all(values > 0):
        raise BadInput(f"`{name}` is {step}; a step size is a finite number above 0 (None: learnt in warm-up)")


def _check_step_shape(name: str, leaf: str, step: Any, x: np.ndarray, manifold: Manifold) -> None:
    shape = None if is_map(step) else np.shape(step)
    keeps_tangents = isinstance(step, LinearStep) and isinstance(step.units, manifold.step_maps)
    if not manifold.flat and shape != () and not keeps_tangents:
        kind = "a linear map" if shape is None else f"of the shape {shape}"
        raise BadInput(
            f"`{name}` is {kind}, but `{leaf}` lives on {type(manifold).__name__}, which is curved: one number for the "
            "whole leaf (steps per element are for flat leaves)"
        )
    if shape is not None and shape != x.shape[len(x.shape) - len(shape) :]:
        raise BadInput(
            f"`{name}` has the shape {shape}, but `{leaf}` has {x.shape}; give one number, or one per element"
        )
