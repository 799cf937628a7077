"""Every figure, table and numbered statement of the papers: the experiment that reproduces it, or why it is no result.

A line is (what, experiment); without an experiment the third field says why there is nothing to measure, or which test
proves the statement instead.
"""

from __future__ import annotations

from typing import NamedTuple


class Item(NamedTuple):
    """A figure, table or numbered statement; `experiment` is empty if it is no result, and `why` says why."""

    what: str
    experiment: str = ""
    why: str = ""


DRAWING = "a drawing of an idea; nothing is measured in it"
BOX = "a description of a method: it is implemented, and its law is tested"
PROOF = "a theorem: proved in the paper; the equation is tested"

PAPERS: dict[str, tuple[Item, ...]] = {
    "Byrne & Girolami 2013": (
        Item("Fig. 1, the simplex and the sphere", "gmc-geometry"),
        Item("Fig. 2, a geodesic", "gmc-geometry"),
        Item("Fig. 3, beta laws on the circle", "gmc-geometry"),
        Item("Algorithm 1, geodesic Monte Carlo", why=f"{BOX} (`GeodesicHMC`)"),
        Item("Fig. 4, traces of a Bingham-von Mises-Fisher law", "gmc-bvmf"),
        Item("Fig. 5, the same with tempering", "gmc-bvmf"),
        Item("Section 5.1, the cost of Hoff's rejection step", "gmc-bvmf"),
        Item("Table 1, volleyball", "gmc-volleyball"),
        Item("Fig. 6, the eigenmodel of a protein network", "gmc-eigenmodel"),
        Item("Algorithm 2, reflections at the walls of the simplex", why=f"{BOX} (`ReflectedSimplex`)"),
    ),
    "Liu, Zhu & Song 2016, with its supplement": (
        Item("Table 1, what samplers can do", "sampler-table"),
        Item("Section 1, rates of integrators", "integrator-rates"),
        Item("Fig. 1, a manifold and its coordinates", why=DRAWING),
        Item("Fig. 2, the structure of SAM", why=DRAWING),
        Item("Fig. 3, noise on the circle", "sggmc-circle"),
        Item("Fig. 4, a mixture on two circles", "sggmc-mixture"),
        Item("Supplement, Fig. 1: the data of that mixture", "sggmc-mixture"),
        Item("Fig. 5(a), topics of 20News-different", "sam-20news"),
        Item("Fig. 5(b), topics of Wikipedia", "sam-wiki"),
        Item("Section 6, models named as future work: networks, mixtures, matrices", "minibatch-models"),
        Item("Conclusion, mixtures on the sphere", "comets"),
        Item("Supplement, Algorithms 1 to 3", why=f"{BOX} (`SGGMC`, `GSGNHT`, `SAM`)"),
    ),
    "Ma, Chen & Fox 2015, with its supplement": (
        Item("Theorem 1, the recipe keeps its law", why=f"{PROOF} (`check_recipe`, `check_sde`)"),
        Item("Theorem 2, the recipe is complete", why=f"{PROOF} (`orthodrome.recipe.completion`)"),
        Item("Fig. 1, the space of processes", why=DRAWING),
        Item("Algorithm 1, gSGRHMC", why=f"{BOX} (`SGRHMC`)"),
        Item("Fig. 2 left and Fig. S.5, one and two peaks", "recipe-1d"),
        Item("Fig. 2 right, a banana", "recipe-2d"),
        Item("Fig. 3 upper left, the expanded-mean form of LDA", why="a table of definitions"),
        Item("Fig. 3, perplexity and run time", "recipe-lda"),
        Item("Fig. S.4, how earlier methods explore D and Q", why=DRAWING),
        Item("Table S.1, top words", "recipe-lda"),
    ),
    "Baker et al. 2018": (
        Item("Fig. 1, boxes of a sparse Dirichlet posterior", "scir-sparse"),
        Item("Proposition 1.1 and section 1.3, the bias near zero", "scir-bias"),
        Item("Theorem 2.1, CIR under the square root", why=f"{PROOF} (tests of the exact transition)"),
        Item("Algorithm 1, SCIR", why=f"{BOX} (`SCIR`)"),
        Item("Section 2.1, the cost of an iteration", "scir-bias"),
        Item("Fig. 2(a), distances on a sparse posterior", "scir-sparse"),
        Item("Fig. 2(b), distances on a dense posterior", "scir-dense"),
        Item("Theorem 3.1 and Corollary 3.2, moments of SCIR", "scir-bias"),
        Item("Fig. 3(a), topics of Wikipedia", "scir-lda"),
        Item("Fig. 3(b), a mixture of a site's users", "scir-dp"),
        Item("The grid of steps behind Fig. 3(b)", "scir-dp-grid"),
    ),
    "Data of the field, not of the papers": (Item("Laws of directions, axes and angles", "directional"),),
}


def not_results() -> dict[str, list[Item]]:
    """Return what is not a result, by paper."""
    return {paper: [item for item in items if not item.experiment] for paper, items in PAPERS.items()}
