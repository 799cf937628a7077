"""The sampler table of Liu, Zhu & Song (2016): orders and entries."""
