"""Claims: what was measured against what a paper says, and whether that decides anything."""
