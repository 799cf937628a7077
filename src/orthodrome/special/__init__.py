"""Special functions that keep their digits: log Bessel functions, and the pieces of the probit."""

from orthodrome.special.bessel import (
    bessel_ratio,
    log_bessel_i,
    log_bessel_ie,
    log_sphere_area,
    log_sphere_mgf,
    log_sphere_mgf_scaled,
)
from orthodrome.special.probit import log_mills, log_normal_cdf, normal_hazard

__all__ = [
    "bessel_ratio",
    "log_bessel_i",
    "log_bessel_ie",
    "log_mills",
    "log_normal_cdf",
    "log_sphere_area",
    "log_sphere_mgf",
    "log_sphere_mgf_scaled",
    "normal_hazard",
]
