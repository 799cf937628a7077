"""The experiments by their names on the command line."""

from __future__ import annotations

EXPERIMENTS: dict[str, str] = {
    "comets": "orthodrome.experiments.comets",
    "directional": "orthodrome.experiments.directional",
    "gmc-bvmf": "orthodrome.experiments.gmc_bvmf",
    "gmc-eigenmodel": "orthodrome.experiments.gmc_eigenmodel",
    "gmc-geometry": "orthodrome.experiments.gmc_geometry",
    "gmc-volleyball": "orthodrome.experiments.gmc_volleyball",
    "integrator-rates": "orthodrome.experiments.integrator_rates",
    "minibatch-models": "orthodrome.experiments.minibatch_models",
    "sam-20news": "orthodrome.experiments.sam_20news",
    "sam-wiki": "orthodrome.experiments.sam_wiki",
    "sampler-table": "orthodrome.experiments.sampler_table",
    "scir-bias": "orthodrome.experiments.scir.bias",
    "scir-dense": "orthodrome.experiments.scir.dense",
    "scir-lda": "orthodrome.experiments.scir.lda",
    "scir-dp": "orthodrome.experiments.scir.dp",
    "scir-dp-grid": "orthodrome.experiments.scir.dp_grid",
    "scir-sparse": "orthodrome.experiments.scir.sparse",
    "sggmc-circle": "orthodrome.experiments.sggmc_circle",
    "sggmc-mixture": "orthodrome.experiments.sggmc_mixture",
    "recipe-1d": "orthodrome.experiments.recipe_1d",
    "recipe-2d": "orthodrome.experiments.recipe_2d",
    "recipe-lda": "orthodrome.experiments.recipe_lda",
    "recipe-theory": "orthodrome.experiments.recipe_theory",
}
"""The registry: the name on the command line and the module with NAME, TITLE, PAPER, DATA and `run(context)`."""
