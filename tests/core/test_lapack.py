"""Factorisations of a batch: the numbers of LAPACK, and no batch above one, which can wait for itself for ever."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.core import lapack

CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "qr": (lapack.orthonormal_columns, lambda a: jnp.linalg.qr(a)[0]),
    "svd": (lambda a: lapack.thin_svd(a).values, lambda a: jnp.linalg.svd(a, full_matrices=False)[1]),
    "eigh": (lambda a: lapack.eigh(a.T @ a)[0], lambda a: jnp.linalg.eigh(a.T @ a)[0]),
    "eigvalsh": (lambda a: lapack.eigvalsh(a.T @ a), lambda a: jnp.linalg.eigvalsh(a.T @ a)),
    "cholesky": (lambda a: lapack.cholesky(a.T @ a), lambda a: jnp.linalg.cholesky(a.T @ a)),
}


@pytest.mark.parametrize("name", list(CASES))
def test_a_batch_is_factorised_one_by_one(name: str) -> None:
    ours, plain = (jax.jit(jax.vmap(function)) for function in CASES[name])
    batch = np.random.default_rng(0).normal(size=(3, 7, 4)).astype(np.float32)
    np.testing.assert_allclose(ours(batch), plain(batch), rtol=2e-5, atol=2e-5)
    shapes = lambda program: re.findall(r"lapack_\w+.*?tensor<(\d+)x", program.lower(batch).as_text())
    assert "3" in shapes(plain)  # the control: a plain batch reaches LAPACK whole
    assert shapes(ours) and "3" not in shapes(ours)
