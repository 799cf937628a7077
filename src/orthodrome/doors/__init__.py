"""The doors: what is wrong with a run before it starts, where, by how much, and what to do.

Kernels trust their input; everything is checked here, once, on plain NumPy arrays and on the few numbers that the first
compiled program reports. A leaf is named as the user would write it: `start['topics']`.
"""

from orthodrome.doors.components import check_components
from orthodrome.doors.data import check_rows_alone
from orthodrome.doors.density import check_density, infinite_density, warn_coarse_energy
from orthodrome.doors.look import check_look
from orthodrome.doors.names import describe, factors
from orthodrome.doors.poles import warn_poles
from orthodrome.doors.settings import check_contract, check_resumable, check_sampler, density_of, parts, probe_of
from orthodrome.doors.start import (
    check_choice,
    check_fit,
    check_interval,
    check_is,
    check_numbers,
    check_path,
    check_positive,
    check_whole,
    read_start,
)
from orthodrome.doors.underflow import warn_underflow

__all__ = [
    "check_choice",
    "check_components",
    "check_contract",
    "check_density",
    "check_fit",
    "check_interval",
    "check_is",
    "check_look",
    "check_numbers",
    "check_path",
    "check_positive",
    "check_resumable",
    "check_rows_alone",
    "check_sampler",
    "check_whole",
    "density_of",
    "describe",
    "factors",
    "infinite_density",
    "parts",
    "probe_of",
    "read_start",
    "warn_coarse_energy",
    "warn_poles",
    "warn_underflow",
]
