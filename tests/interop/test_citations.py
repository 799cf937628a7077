"""Every name with a paper leads to an entry, and what was used is found where it is held."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
import xarray

import orthodrome
from orthodrome import (
    SAM,
    FullGradient,
    GeodesicNUTS,
    LogPositive,
    Product,
    Sphere,
    Target,
    Tempering,
    check_recipe,
    citation,
)
from orthodrome.errors import BadInput
from orthodrome.interop import bibliography
from orthodrome.interop.papers import CITES, PAPERS


def logdensity(x):
    return jnp.sum(x["a"])


NUTS = GeodesicNUTS(FullGradient(Target(Product({"a": Sphere(), "b": LogPositive()}), logdensity)))


def test_the_table_has_no_loose_ends() -> None:
    keys = {key for named in CITES.values() for key in named.split()}
    assert keys == set(PAPERS)
    homes = [orthodrome, *(getattr(orthodrome, package) for package in ("samplers", "densities"))]
    assert [name for name in CITES if not any(hasattr(home, name) for home in homes)] == []


def test_every_sampler_and_model_of_a_paper_is_in_the_table() -> None:
    groups = [orthodrome.GROUPS[group] for group in ("samplers", "models")]
    names = {name for group in groups for listed in group.values() for name in listed.split()}
    assert names - set(CITES) == {"Scheduled"}


def test_what_is_held_is_found() -> None:
    assert "byrne2013" in bibliography(NUTS) and "hoffman2014" in bibliography(NUTS)
    assert "geyer1991" not in bibliography(NUTS) and "geyer1991" in bibliography(Tempering(NUTS))
    assert "reisinger2010" in bibliography(SAM(2)) and "ma2015" in bibliography(check_recipe)
    assert bibliography(NUTS, "SCIR").count("@") == bibliography(NUTS).count("@") + 1


def test_draws_say_what_they_were_made_with() -> None:
    draws = xarray.DataTree()
    draws.attrs |= {"inference_library": "orthodrome", "sampler": "SGGMC", "manifolds": '{"x": "Stiefel"}'}
    text = bibliography(draws)
    assert "liu2016" in text and "byrne2013" in text


def test_it_is_printed_as_bibtex(capsys: pytest.CaptureFixture[str]) -> None:
    citation("GeodesicHMC")
    out = capsys.readouterr().out
    assert out.startswith("@software{orthodrome,") and out.count("{") == out.count("}")
    assert "  year = {2013},\n" in out
    with pytest.raises(BadInput, match="nothing here is called 'NUTS'"):
        citation("NUTS")
