"""Checks of an SDE, of a recipe, of a transition kernel, and of a whole model by simulation."""

from orthodrome.checks.calibration import simulation_based_calibration
from orthodrome.checks.kernel import check_kernel
from orthodrome.checks.recipe import check_recipe
from orthodrome.checks.sde import check_sde

__all__ = ["check_kernel", "check_recipe", "check_sde", "simulation_based_calibration"]
