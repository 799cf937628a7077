"""Watching a run from outside: what its folder says, in the terminal or as a local page."""
