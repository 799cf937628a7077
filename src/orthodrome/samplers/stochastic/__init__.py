"""Samplers with stochastic gradients and without a Metropolis test."""
