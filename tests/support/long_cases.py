"""Which cases `make test` leaves to `make test-all`, beside those that are marked where they stand.

Each takes three to twenty seconds of the processor, and a shorter case of the fast suite holds the same property: of
another sampler, law or precision, or a part of it in closed form. No negative control and no door is here.
"""

from __future__ import annotations

LONG = {
    "cli/test_cluster.py": ("test_other_kinds_of_rows[vmf]",),
    "core/test_compilation_cache.py": ("test_the_second_process_compiles_nothing",),
    "densities/test_flat.py": ("test_ball[4.0-1.0]", "test_dirichlet_marginals", "test_truncated_normal_density"),
    "densities/test_frame_constants.py": ("test_constant_on_three_dimensional_rotations_against_uniform_draws",),
    "densities/test_frames.py": ("test_rotations_in_space",),
    "densities/test_truncated_corners.py": (
        "test_single_precision_log_density_is_normalised[0.0-1000000.0--1.0-1.0-<lambda>]",
        "test_single_precision_draws_have_the_law_and_few_ties[0.0-1000000.0--1.0-1.0-<lambda>]",
    ),
    "diagnostics/test_evidence_components.py": ("test_chains_in_one_component[orthogonal-1]",),
    "dynamics/test_soft_walls.py": ("test_trajectories_no_longer_leave_the_dynamics[positive]",),
    "linear/test_centred.py": ("test_dynamics_in_such_units_stay_in_the_law[HMC]",),
    "linear/test_linear_step.py": ("test_a_map_is_a_linear_change_of_variables[low-rank-GeodesicNUTS]",),
    "manifolds/test_drift.py": ("test_rounding_does_not_add_up[sphere-1000-1.0-20000]",),
    "manifolds/test_measures.py": ("test_random_rotations_are_uniform_in_their_component[True]",),
    "models/directional/test_climbs.py": (
        "test_the_highest_top_is_found_where_all_climbs_from_the_means_end_on_a_lower_one",
    ),
    "models/directional/test_folds.py": (
        "test_chains_cross_a_concentration_of_zero_to_the_opposite_mean_and_coupling",
    ),
    "models/directional/test_modes.py": ("test_chains_in_two_modes_are_drawn_again_with_tempering",),
    "models/lda/test_model.py": ("test_left_to_right_is_an_option",),
    "models/lda/test_remembered.py": ("test_one_document_at_a_time_draws_from_the_enumerated_posterior[False]",),
    "models/lda/test_samplers.py": ("test_gibbs_draws_from_the_enumerated_posterior[AllocationGibbs-False]",),
    "models/mixture/test_components.py": ("test_rows_that_products_leave_over_choose_as_the_others[2500]",),
    "models/mixture/test_exactness.py": (
        "test_transitions_leave_the_enumerated_posterior[nothing-gibbs of two rows with splits and merges-250]",
        "test_without_data_the_concentration_keeps_its_prior[gibbs of two rows with splits and merges]",
    ),
    "models/mixture/test_model.py": (
        "test_every_method_of_minibatches_finds_them[vmf-sggmc]",
        "test_every_method_of_minibatches_finds_them[vmf-gsgnht]",
    ),
    "models/network/test_climb.py": ("test_the_sums_are_those_of_the_dense_model[probit]",),
    "models/network/test_hmc.py": ("test_the_prior_stays_when_networks_follow_it[probit]",),
    "models/sam/test_model.py": ("test_every_method_finds_them[stovi]",),
    "samplers/stochastic/test_fisher_metric.py": ("test_every_leaf_has_its_own_block",),
    "samplers/stochastic/test_flat.py": ("test_the_mean_of_a_gamma_law[SGRHMC-400]",),
    "samplers/stochastic/test_sggmc.py": ("test_the_thermostat_finds_unknown_noise",),
    "samplers/stochastic/test_simplex_langevin.py": ("test_the_diffusion_keeps_the_law[ReducedNatural]",),
    "samplers/stochastic/test_swf.py": (
        "test_tiny_concentrations_in_single_precision",
        "test_the_clock_of_the_ancestors[3.0-0.4]",
    ),
    "samplers/stochastic/test_thermostats.py": (
        "test_a_sphere_with_a_thermostat_per_coordinate",
        "test_noise_that_differs_between_coordinates[True]",
    ),
    "samplers/test_facts.py": (
        "test_tempering_holds_pairs_of_columns",
        "test_a_scheduled_temperature_without_a_scheduled_step",
    ),
    "tuning/test_directions.py": ("test_the_heat_that_is_left_in_every_direction[GSGNHT none]",),
    "tuning/test_flat_tuning.py": ("test_a_learnt_step_is_neither_timid_nor_rash[SGLD]",),
    "tuning/test_probing.py": ("test_elements_of_one_leaf_too",),
    "tuning/test_stochastic_tuning.py": ("test_a_hot_run_is_warned_about_with_the_remedy",),
    "tuning/test_trajectory_length.py": ("test_the_best_of_the_candidates_wherever_the_mean_is[2.0]",),
}
"""Tests by file, as pytest names them."""


def is_long(nodeid: str) -> bool:
    """Return whether a test is left to `make test-all`."""
    path, _, test = nodeid.removeprefix("tests/").partition("::")
    return test in LONG.get(path, ())


def unknown(nodeids: list[str]) -> list[str]:
    """Return the cases of the list that are not among the tests of their file, where a whole file was collected."""
    split = [nodeid.removeprefix("tests/").partition("::") for nodeid in nodeids]
    files = {path for path, _, _ in split}
    known = {(path, test) for path, _, test in split}
    return [
        f"{path}::{test}"
        for path, tests in LONG.items()
        if path in files
        for test in tests
        if (path, test) not in known
    ]
