"""The figures and tables of the papers, one file each; `orthodrome reproduce` runs them (see `support.contract`)."""

from orthodrome.experiments.support.registry import EXPERIMENTS

__all__ = ["EXPERIMENTS"]
