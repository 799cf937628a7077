"""The samplers that Python steps, and the test of the law of each: they have no step to trace, map or differentiate."""

from __future__ import annotations

PYTHON_SAMPLERS = {
    "StochasticTopics": "models/sam/test_model.py::test_thermostat_is_of_second_order",
    "ExactTopics": "models/sam/test_model.py::test_block_gibbs_stays_in_the_joint_law",
    "VariationalTopics": "models/sam/test_model.py::test_every_method_finds_them",
    "AllocationGibbs": "models/lda/test_samplers.py::test_gibbs_draws_from_the_enumerated_posterior",
    "CollapsedGibbs": "models/lda/test_samplers.py::test_gibbs_draws_from_the_enumerated_posterior",
    "StochasticAllocation": "models/lda/test_samplers.py::test_weights_have_the_mean_of_their_conditional_law",
    "RememberedAllocation": "models/lda/test_remembered.py::"
    "test_one_document_at_a_time_draws_from_the_enumerated_posterior",
    "EigenmodelHMC": "models/network/test_hmc.py::test_the_prior_stays_when_networks_follow_it",
    "EigenmodelTempering": "models/network/test_tempering.py::test_every_rung_keeps_its_tempered_law",
    "MixtureGibbs": "models/mixture/test_exactness.py::test_transitions_leave_the_enumerated_posterior",
    "StochasticMixture": "models/mixture/test_exactness.py::test_transitions_leave_the_enumerated_posterior",
}
"""Name of the class -> file::name of the test, below `tests`."""
