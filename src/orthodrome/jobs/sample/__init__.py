"""Draws from a model that a file of the user's defines."""
