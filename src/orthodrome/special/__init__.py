"""Special functions that keep their digits: log Bessel functions, constants of directional laws, probit pieces."""

from orthodrome.special.bessel import (
    bessel_ratio,
    log_bessel_i,
    log_bessel_ie,
    log_sphere_area,
    log_sphere_mgf,
    log_sphere_mgf_scaled,
)
from orthodrome.special.fisher_bingham import FisherBingham, fisher_bingham, log_fisher_bingham
from orthodrome.special.jacobi import eigen, jacobi
from orthodrome.special.probit import log_mills, log_normal_cdf, normal_hazard
from orthodrome.special.torus import log_cosine_constant, log_sine_constant

__all__ = [
    "FisherBingham",
    "bessel_ratio",
    "eigen",
    "fisher_bingham",
    "jacobi",
    "log_bessel_i",
    "log_bessel_ie",
    "log_cosine_constant",
    "log_fisher_bingham",
    "log_mills",
    "log_normal_cdf",
    "log_sine_constant",
    "log_sphere_area",
    "log_sphere_mgf",
    "log_sphere_mgf_scaled",
    "normal_hazard",
]
