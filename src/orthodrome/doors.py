"""The doors: what is wrong with a run before it starts, where, by how much, and what to do.

Kernels trust their input; everything is checked here, once, on plain NumPy arrays and on the few numbers that the first
compiled program reports (`Look`). A leaf is named as the user would write it: `start['topics']`.

Optional hooks, looked up on the class: a sampler's `supports(manifold) -> str | None` (why it cannot work there, and what to
use instead), a manifold's `advice: str` (what to do when the density is not finite there).
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from orthodrome import steps
from orthodrome.errors import BadInput, NotOnManifold, OrthodromeWarning, Unsupported
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.manifolds.manifold import Manifold, Tree
from orthodrome.manifolds.product import Product, is_manifold
from orthodrome.targets import Posterior, Target

TOLERANCE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-8}
"""How far a start may be off its manifold, relative to the size of its numbers."""
ENERGY_RESOLUTION = 0.01
"""The coarsest resolution of the log density, in nats, that a Metropolis test can live with."""


def check_numbers(num_chains: int, num_warmup: int, num_draws: int, thin: int, seed: int) -> None:
    """Counts that make a run."""
    for name, value, least in (
        ("num_chains", num_chains, 1),
        ("num_draws", num_draws, 1),
        ("num_warmup", num_warmup, 0),
        ("thin", thin, 1),
        ("seed", seed, 0),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise BadInput(f"{name} must be a whole number, not {value!r}")
        if value < least:
            raise BadInput(f"{name} is {value}; it must be at least {least}")
    if seed >= 2**32:
        raise BadInput(f"seed is {seed}; it must be below 2**32")
    if num_warmup + num_draws * thin >= 2**32 - 1:
        raise BadInput(f"{num_warmup} + {num_draws} x {thin} transitions are more than the 2**32 - 2 a run can number")


# --- the start ----------------------------------------------------------------------------------------------------------


def read_start(start: Any, num_chains: int, manifold: Manifold) -> tuple[Tree, bool]:
    """The start of every chain, stacked, and whether it only gives shapes for random points."""
    chains = start if isinstance(start, list) else [start]
    if isinstance(start, list) and len(start) != num_chains:
        raise BadInput(f"`start` is a list of {len(start)} positions for {num_chains} chains; give one per chain")
    names = [f"start[{i}]" if isinstance(start, list) else "start" for i in range(len(chains))]
    for name, one in zip(names, chains, strict=True):
        _check_structure(name, one, manifold)
    random = all(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in jax.tree.leaves(chains))
    read = [_read_position(name, one, manifold) for name, one in zip(names, chains, strict=True)]
    _check_same_shapes(names, read)
    every = read if isinstance(start, list) else read * num_chains
    return jax.tree.map(lambda *leaves: np.stack(leaves), *every), random


def _check_structure(name: str, position: Tree, manifold: Manifold) -> None:
    wanted = dict(jax.tree_util.tree_leaves_with_path(factors(manifold), is_leaf=is_manifold))
    given = dict(jax.tree_util.tree_leaves_with_path(position))
    if jax.tree.structure(position) == jax.tree.structure(factors(manifold), is_leaf=is_manifold):
        return
    if not isinstance(manifold, Product):
        raise BadInput(
            f"`{name}` is a tree with the leaves {_paths(given)}, but the manifold is one {type(manifold).__name__}; "
            "give every leaf its manifold: Product({...})"
        )
    missing, extra = [p for p in wanted if p not in given], [p for p in given if p not in wanted]
    parts = [f"`{name}` lacks {_paths(missing)}"] * bool(missing) + [f"the manifold lacks {_paths(extra)}"] * bool(extra)
    raise BadInput(
        f"`{name}` and the manifold are not the same tree: {'; '.join(parts) or 'their containers differ'}; "
        "`start` needs one array for each manifold of the Product"
    )


def _read_position(name: str, position: Tree, manifold: Manifold) -> Tree:
    kinds = jax.tree.leaves(factors(manifold), is_leaf=is_manifold)
    leaves = jax.tree_util.tree_leaves_with_path(position)
    read = [_read_leaf(_leaf(name, path), leaf, kind) for (path, leaf), kind in zip(leaves, kinds, strict=True)]
    return jax.tree.unflatten(jax.tree.structure(position), read)


def _read_leaf(name: str, leaf: Any, manifold: Manifold) -> np.ndarray:
    shape_only = isinstance(leaf, jax.ShapeDtypeStruct)
    dtype = leaf.dtype if shape_only else np.asarray(leaf).dtype
    if dtype not in TOLERANCE:
        raise BadInput(
            f"`{name}` is {dtype}; samplers need float32 or float64: pass `{name}.astype('float32')`"
            if dtype.kind in "iufb" or "float" in dtype.name
            else f"`{name}` is {dtype}; it must be an array of float32 or float64"
        )
    dtype = jax.dtypes.canonicalize_dtype(dtype)
    values = np.zeros(leaf.shape, dtype) if shape_only else np.asarray(leaf, dtype)
    if values.ndim < manifold.point_ndim:
        raise BadInput(
            f"`{name}` has the shape {values.shape}, but one point of {type(manifold).__name__} takes "
            f"{manifold.point_ndim} axis(es), after any axes for copies"
        )
    if not np.all(np.isfinite(values)):
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise BadInput(f"`{name}` is {values[where]} at {where}; every number of a start must be finite")
    return values


def _check_same_shapes(names: list[str], positions: list[Tree]) -> None:
    first = jax.tree_util.tree_leaves_with_path(positions[0])
    for name, other in zip(names[1:], positions[1:], strict=True):
        for (path, a), b in zip(first, jax.tree.leaves(other), strict=True):
            if a.shape != b.shape or a.dtype != b.dtype:
                raise BadInput(
                    f"`{_leaf(name, path)}` is {b.dtype}{list(b.shape)}, but `{_leaf(names[0], path)}` is "
                    f"{a.dtype}{list(a.shape)}; chains must start from the same shapes"
                )


# --- the sampler and its density ----------------------------------------------------------------------------------------


def parts(sampler: Any) -> Iterator[Any]:
    """The sampler and every configured object inside it (samplers it holds, estimators, targets)."""
    yield sampler
    for field in dataclasses.fields(sampler) if dataclasses.is_dataclass(sampler) else ():
        value = getattr(sampler, field.name)
        if dataclasses.is_dataclass(value) and not isinstance(value, Manifold | type):
            yield from parts(value)


def density_of(sampler: Any) -> Target | Posterior | None:
    """The law that a sampler draws from, if it shows one."""
    return next((part for part in parts(sampler) if isinstance(part, Target | Posterior)), None)


def probe_of(sampler: Any) -> Any:
    """Where the density can be asked at the start: the sampler's own estimator, else its target, else nothing."""
    estimators = (part for part in parts(sampler) if isinstance(part, GradientEstimator))
    return next(estimators, density_of(sampler))


def check_sampler(sampler: Any, positions: Tree) -> None:
    """Settings that fit each other, the space and the data."""
    manifold = sampler.manifold
    one = jax.tree.map(lambda leaf: leaf[0], positions)
    for part in parts(sampler):
        supports = getattr(type(part), "supports", None)
        problem = supports(part, manifold) if supports is not None else None
        if problem is not None:
            raise Unsupported(f"{type(part).__name__} does not work on {describe(manifold)}: {problem}")
        settings = {f.name: getattr(part, f.name) for f in dataclasses.fields(part)} if dataclasses.is_dataclass(part) else {}
        _check_step(settings.get("step_size"), one, manifold)
        _check_count("num_steps", settings.get("num_steps"))
        _check_batch(settings.get("batch_size"), density_of(sampler))


def _check_count(name: str, value: Any) -> None:
    if value is not None and np.ndim(value) == 0 and not (int(value) == value and value >= 1):
        raise BadInput(f"{name} is {value}; it must be a whole number of at least 1")


def _check_batch(batch_size: Any, target: Any) -> None:
    if batch_size is not None and isinstance(target, Posterior) and batch_size > target.num_data:
        raise BadInput(f"batch_size is {batch_size}, but the data has {target.num_data} rows; take at most that many")


def _check_step(step_size: Any, position: Tree, manifold: Manifold) -> None:
    if step_size is None or callable(step_size):
        return
    given = jax.tree_util.tree_leaves_with_path(step_size, is_leaf=steps.is_step)
    for path, step in given:
        _check_positive(_leaf("step_size", path), step.size if steps.is_step(step) else step)
    leaves = jax.tree_util.tree_leaves_with_path(position)
    shared = len(given) == 1 and given[0][0] == ()
    if not shared and jax.tree.structure(step_size, is_leaf=steps.is_step) != jax.tree.structure(position):
        raise BadInput(
            f"`step_size` has the leaves {_paths(p for p, _ in given)}, but the position has {_paths(p for p, _ in leaves)}; "
            "give one number, or one per leaf of the position"
        )
    kinds = jax.tree.leaves(factors(manifold), is_leaf=is_manifold)
    for (path, x), (step_path, step), kind in zip(leaves, given * (len(leaves) if shared else 1), kinds, strict=True):
        _check_step_shape(_leaf("step_size", step_path), _leaf("start", path), step, x, kind)


def _check_positive(name: str, step: Any) -> None:
    values = np.asarray(step)
    if values.dtype.kind not in "fiu" or not np.all(np.isfinite(values)) or not np.all(values > 0):
        raise BadInput(f"`{name}` is {step}; a step size is a finite number above 0 (None: learnt in warm-up)")


def _check_step_shape(name: str, leaf: str, step: Any, x: np.ndarray, manifold: Manifold) -> None:
    shape = None if steps.is_step(step) else np.shape(step)
    if not manifold.flat and shape != ():
        kind = "a linear map" if shape is None else f"of the shape {shape}"
        raise BadInput(
            f"`{name}` is {kind}, but `{leaf}` lives on {type(manifold).__name__}, which is curved: one number for the "
            "whole leaf (steps per element are for flat leaves)"
        )
    if shape is not None and shape != x.shape[len(x.shape) - len(shape) :]:
        raise BadInput(f"`{name}` has the shape {shape}, but `{leaf}` has {x.shape}; give one number, or one per element")


def check_density(target: Any, positions: Tree) -> None:
    """The density is one real number; traces the user's function once and runs nothing."""
    if target is None:
        return
    one = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), positions)
    if isinstance(target, Posterior):
        _check_scalar("logprior", jax.eval_shape(_logprior, target, one))
        rows = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), _check_rows(target.data))
        _check_scalar("loglikelihood", jax.eval_shape(_loglikelihood, target, one, rows))
    else:
        _check_scalar("logdensity", jax.eval_shape(_logdensity, target, one))


# Compiled for their cached traces only: a repeated run does not trace the user's functions again.
_logdensity = jax.jit(lambda target, p: target.user_logdensity(p))
_logprior = jax.jit(lambda target, p: target.logprior(p))
_loglikelihood = jax.jit(lambda target, p, row: target.loglikelihood(p, row))


def _check_rows(data: Any) -> Any:
    arrays = jax.tree.map(lambda leaf: leaf if isinstance(leaf, jax.Array) else np.asarray(leaf), data)
    lengths = {leaf.shape[0] if leaf.ndim else None for leaf in jax.tree.leaves(arrays)}
    if len(lengths) != 1 or None in lengths:
        raise BadInput(f"the arrays of `data` must share their first axis, one row per datum; their lengths are {lengths}")
    return arrays


def _check_scalar(name: str, result: Any) -> None:
    leaves = jax.tree.leaves(result)
    if len(leaves) != 1 or leaves[0].shape != () or not np.issubdtype(leaves[0].dtype, np.floating):
        shapes = ", ".join(f"{leaf.dtype}{list(leaf.shape)}" for leaf in leaves) or "nothing"
        remedy = "sum the terms: jnp.sum(...)" if leaves and leaves[0].shape else "return one real number"
        raise BadInput(f"`{name}` returns {shapes}; a log density is one real number: {remedy}")


# --- what the first program saw -----------------------------------------------------------------------------------------


def check_look(look: Any, positions: Tree, manifold: Manifold, one_start: bool) -> None:
    """Every chain starts on the manifold, where the density and its gradient are finite and the flow can move."""
    sizes = [float(np.max(np.abs(leaf), initial=1.0)) for leaf in jax.tree.leaves(positions)]
    kinds = jax.tree.leaves(factors(manifold), is_leaf=is_manifold)
    paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(positions)]
    dtypes = [leaf.dtype for leaf in jax.tree.leaves(positions)]
    for chain in range(len(np.ravel(jax.tree.leaves(look.distance)[0]))):
        name = "start" if one_start else f"start[{chain}]"
        distances = [float(d[chain]) for d in jax.tree.leaves(look.distance)]
        for path, d, size, kind, dtype in zip(paths, distances, sizes, kinds, dtypes, strict=True):
            _check_distance(_leaf(name, path), d, TOLERANCE[dtype] * size, kind)
        _check_moves(name, look.moves, chain)
        _check_finite(name, chain, look, manifold)


def _check_distance(name: str, distance: float, tolerance: float, manifold: Manifold) -> None:
    if not distance <= tolerance:
        kind = type(manifold).__name__
        remedy = f"pass `{name} / {name}.sum()`" if "Simplex" in kind else "pass `manifold.retract(start)`"
        raise NotOnManifold(f"`{name}` is off the {kind} by {distance:.0e} (tolerance {tolerance:.0e}); {remedy}")


def _check_moves(name: str, moves: Any, chain: int) -> None:
    for path, moved in jax.tree_util.tree_leaves_with_path(moves):
        if not moved[chain]:
            raise BadInput(
                f"the projection on the level set fails at `{_leaf(name, path)}`: a step of 1e-3 finds no point of it; the "
                "constraint's Jacobian may lose its rank there, or the constraint be rough: start elsewhere or rescale it"
            )


def _check_finite(name: str, chain: int, look: Any, manifold: Manifold) -> None:
    if look.logdensity is not None and not np.isfinite(look.logdensity[chain]):
        raise BadInput(
            f"the log density is {float(look.logdensity[chain])} at `{name}`; start where it is finite{_advice(manifold)}"
        )
    for path, finite in jax.tree_util.tree_leaves_with_path(look.gradient):
        if not finite[chain]:
            raise BadInput(
                f"the gradient of the log density is not finite at `{_leaf(name, path)}` though the density is; common causes: "
                "a square root or norm at 0, jnp.where around a NaN, x log x at 0 (use jax.scipy.special.xlogy)"
                + _advice(manifold)
            )


def _advice(manifold: Manifold) -> str:
    kinds = jax.tree.leaves(factors(manifold), is_leaf=is_manifold)
    texts = {text for kind in kinds if (text := getattr(type(kind), "advice", None))}
    return "".join(f"; {text}" for text in sorted(texts))


def warn_coarse_energy(logdensity: Any, dtype: Any) -> None:
    """For samplers with a Metropolis test: can the dtype resolve differences of this log density?"""
    size = float(np.max(np.abs(logdensity)))
    resolution = size * float(np.finfo(dtype).eps)
    if math.isfinite(size) and resolution > ENERGY_RESOLUTION:
        warnings.warn(
            f"the log density is {size:.1e} at the start, which {np.dtype(dtype).name} resolves to {resolution:.2g} nats: too "
            "coarse for a Metropolis test; use float64 (jax.config.update('jax_enable_x64', True) and a float64 start) or sum "
            "differences from a reference value",
            OrthodromeWarning,
            stacklevel=3,
        )


def factors(manifold: Manifold) -> Any:
    """The tree of manifolds of a product; a single manifold is a tree of one."""
    return manifold.factors if isinstance(manifold, Product) else manifold


def describe(manifold: Manifold) -> str:
    """`Sphere`, or `Product(topics: Sphere, scale: Positive)`."""
    if not isinstance(manifold, Product):
        return type(manifold).__name__
    leaves = jax.tree_util.tree_leaves_with_path(manifold.factors, is_leaf=is_manifold)
    inside = ", ".join(f"{jax.tree_util.keystr(path, simple=True, separator='.')}: {type(m).__name__}" for path, m in leaves)
    return f"Product({inside})"


def _leaf(name: str, path: Any) -> str:
    return name + jax.tree_util.keystr(path)


def _paths(paths: Any) -> str:
    return ", ".join(jax.tree_util.keystr(path) or "(a single array)" for path in paths)
