"""Samplers with a Metropolis test or exact conditionals: their law is exact at any step size."""
