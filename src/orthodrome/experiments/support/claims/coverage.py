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
ELSEWHERE = "measured under another paper, by"
DEFINED = "definitions; the formulas are tested"
STEPS = "steps of a derivation; the equations are tested"
BOX = "a description of a method: it is implemented, and its law is tested"
PROOF = "a theorem: proved in the paper; the equation is tested"

PAPERS: dict[str, tuple[Item, ...]] = {
    "Byrne & Girolami 2013": (
        Item("Examples 2.1, 2.2 and 2.7: angles, tangents, von Mises-Fisher laws", why=DEFINED),
        Item("Examples 2.3 and 2.4, Fisher-Rao's metric and the square root", "gmc-geometry"),
        Item("Fig. 1, the simplex and the sphere", "gmc-geometry"),
        Item("Example 2.5 and Fig. 2, a geodesic", "gmc-geometry"),
        Item("Example 2.6 and Fig. 3, beta laws on the circle", "gmc-geometry"),
        Item("Eq. (3) to (9), the splitting of the Hamiltonian", why=f"{STEPS} (`GeodesicHMC`)"),
        Item("Algorithm 1, geodesic Monte Carlo", why=f"{BOX} (`GeodesicHMC`)"),
        Item("Section 4.1, affine spaces and masses", why=f"{STEPS} (`Affine`, `Euclidean`)"),
        Item("Sections 4.2 and 4.3, flows on spheres and frames; their costs", "gmc-geometry"),
        Item("Section 4.4, products with a step for each factor", why=f"{STEPS} (`Product`)"),
        Item("Fig. 4, traces of a Bingham-von Mises-Fisher law", "gmc-bvmf"),
        Item("Fig. 5, the same with tempering", "gmc-bvmf"),
        Item("Section 5.1, the cost of Hoff's rejection step", "gmc-bvmf"),
        Item("Table 1, volleyball, and the verdicts of section 5.2", "gmc-volleyball"),
        Item("Fig. 6, the eigenmodel of a protein network", "gmc-eigenmodel"),
        Item("Section 5.3, modes, permutations and Hoff's sampler", "gmc-eigenmodel"),
        Item("Section 6, a logit link", why="implemented (`NetworkEigenmodel(link='logit')`); no number is given"),
        Item("Section 6, normalising constants", why="implemented (`Tempering`); tested against exact ones"),
        Item("Section 6, moves of pairs of columns", "gmc-eigenmodel"),
        Item("Algorithm 2, reflections at the walls of the simplex", why=f"{BOX} (`ReflectedSimplex`)"),
        Item("Appendix B, gradients of the eigenmodel", why=f"{STEPS} (`NetworkEigenmodel`)"),
    ),
    "Liu, Zhu & Song 2016, with its supplement": (
        Item("Table 1, what samplers can do", "sampler-table"),
        Item("Section 1, rates of integrators", "integrator-rates"),
        Item("Eq. (1) to (4), noise of gradients and the recipe", why=f"{ELSEWHERE} `recipe-theory`"),
        Item("Fig. 1, a manifold and its coordinates", why=DRAWING),
        Item("Eq. (5) and (6), the two dynamics keep their laws", why=f"{ELSEWHERE} `recipe-theory`"),
        Item("Eq. (7) and (8), the solutions of the parts", why=f"{STEPS} (`SGGMC`, `GSGNHT`)"),
        Item("Fig. 2, the structure of SAM", why=DRAWING),
        Item("Eq. (9) and (10), the collapsed law of SAM and its gradient", why=f"{STEPS} (`SAM`)"),
        Item("Fig. 3 and supplement F.1, noise on the circle", "sggmc-circle"),
        Item("Fig. 4 and supplement F.2, a mixture on two circles", "sggmc-mixture"),
        Item("Supplement D, Fig. 1: the modes of that mixture", "sggmc-mixture"),
        Item("Fig. 5(a), topics of 20News-different", "sam-20news"),
        Item("Fig. 5(b), topics of Wikipedia", "sam-wiki"),
        Item("Section 6, models named as future work: networks, mixtures, matrices", "minibatch-models"),
        Item("Section 6, mixtures on the sphere", "comets"),
        Item("Section 6, constrained laws", why="an example (`examples/06`); tested against exact moments"),
        Item("Supplements A and C, derivations of projections and momenta", why=STEPS),
        Item("Supplement B, the estimate of U is biased", why=f"{BOX} (`SAM(method='gmc-apprmh')`)"),
        Item("Supplement E, Algorithms 1 to 3", why=f"{BOX} (`SGGMC`, `GSGNHT`, `SAM`)"),
        Item("Supplement E, epsilon and C from the rates of descent, and the number of steps", "sggmc-mixture"),
        Item("Supplement E, decreasing steps", "integrator-rates"),
        Item("Supplement F.3, the data of Fig. 5 and log Bessel functions", "sam-20news"),
    ),
    "Ma, Chen & Fox 2015, with its supplement": (
        Item("Theorem 1 and Eq. (1) to (5), the recipe keeps its law", "recipe-theory"),
        Item("Theorem 2, Eq. (S.1) to (S.11) and remark 1, the recipe is complete", "recipe-theory"),
        Item("Section 2.1, jumps where D = 0", "recipe-theory"),
        Item("Fig. 1, the space of processes", why=DRAWING),
        Item("Section 2.3, steps and their error", why=f"{ELSEWHERE} `sampler-table`"),
        Item("Section 3.1 and supplement D, known samplers, Eq. (10) to (15)", "recipe-theory"),
        Item("Section 3.2, Eq. (16) and (17)", "recipe-theory"),
        Item("Algorithm 1, gSGRHMC", why=f"{BOX} (`SGRHMC`)"),
        Item("Fig. 2 left and Fig. S.5, one and two peaks", "recipe-1d"),
        Item("Fig. 2 right, a banana", "recipe-2d"),
        Item("Supplement E, D helps to leave a mode, Q to cross between modes", "recipe-1d"),
        Item("Supplement E, accuracy near a mode", "recipe-theory"),
        Item("Supplement F.1, the metric of the minibatch's own potential", "recipe-1d"),
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
