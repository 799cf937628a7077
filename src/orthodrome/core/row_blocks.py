"""Sums over very many rows, in blocks that stay in the processor's cache.

A gradient of a sum over rows reads every row twice, forwards and backwards, and writes several numbers for each row and
chain in between. Where these do not fit in the cache they go through memory, which is slow and which the cores of a
machine share. In blocks that fit in the cache each row comes from memory once. Of a regression with 1,000,000 rows of
20 columns, on one core, 4 chains take 0.35 of the time and 16 chains 0.4 (blocks of a megabyte). A lone chain takes up
to 13 % longer; but two processes that share a way to memory too narrow for both are then 1.96 times as fast as one, not
1.5.

Where a row has more than some 60 numbers, these outweigh what is written for it. Then there is little to gain, and a
lone chain's products of matrices and vectors are slower in blocks: such rows are summed at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import jax
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import Tree

T = TypeVar("T")

BLOCK = 1 << 21
"""The most bytes of a block: two thirds of the loop's own cost are gone, and it still fits in a share of the cache."""
LEAST_ROWS, MOST_ROWS = 1 << 13, 1 << 16
"""A block has at least, and at most, so many rows; if fewer fill it, they are wide."""
WORTH = 4
"""So many blocks are needed for them to be worth a loop."""
SMALL = 8
"""The sum itself, which every block adds to, must be so many times smaller than a block."""


def rows_of_block(x: Tree, rows: Tree) -> int | None:
    """Return how many rows a block has; None where one sum over all rows is better, and always on accelerators.

    x: what the summed function is differentiated in, whose size is that of the sum
    """
    leaves = jax.tree.leaves(rows)
    size = sum(leaf.size * leaf.dtype.itemsize for leaf in leaves)
    count = leaves[0].shape[0]
    if jax.default_backend() != "cpu" or size < WORTH * BLOCK:
        return None
    block = min(1 << int(math.log2(max(1, BLOCK * count // size))), MOST_ROWS)
    summed = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(x))
    return block if block >= LEAST_ROWS and count >= WORTH * block and SMALL * summed <= BLOCK else None


def summed_over_rows(function: Callable[[Tree], T], rows: Tree, block: int) -> T:
    """Return the sum of a function over blocks of rows, and of those left over: function(rows) -> a tree of sums."""
    count = jax.tree.leaves(rows)[0].shape[0]
    whole = count // block

    def cut(i: Array | int) -> Tree:
        return jax.tree.map(lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, i * block, block), rows)

    total = jax.lax.fori_loop(1, whole, lambda i, sums: trees.add(sums, function(cut(i))), function(cut(0)))
    if count % block:
        total = trees.add(total, function(jax.tree.map(lambda leaf: leaf[whole * block :], rows)))
    found: T = total
    return found
