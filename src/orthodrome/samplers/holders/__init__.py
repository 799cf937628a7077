"""Samplers that hold samplers."""
