"""How many threads compiled loops use, and what idle ones do."""
