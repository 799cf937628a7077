"""Strengths of players or teams from who beat whom."""
