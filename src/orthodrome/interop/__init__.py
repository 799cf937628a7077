"""Other packages' conventions and loops, and the papers to cite."""

from orthodrome.interop.blackjax import as_blackjax, blackjax_gradient
from orthodrome.interop.citations import bibliography, citation
from orthodrome.interop.settings import hmc_settings, sghmc_settings, sgld_settings

__all__ = [
    "as_blackjax",
    "bibliography",
    "blackjax_gradient",
    "citation",
    "hmc_settings",
    "sghmc_settings",
    "sgld_settings",
]
