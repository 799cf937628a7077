"""The check of what is given to the functions that read draws."""

from __future__ import annotations

from typing import Any

from orthodrome.errors import BadInput


def check_draws(tree: Any) -> None:
    """Raise unless this is a tree of draws, as `sample` returns it."""
    import xarray

    if not isinstance(tree, xarray.DataTree) or "posterior" not in tree.children:
        raise BadInput(
            f"give draws, the DataTree that `sample` returns (or `draws_` of a fitted model), not {tree!r:.60}"
        )
