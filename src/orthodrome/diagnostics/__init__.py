"""What the draws say about themselves: convergence, summaries, a verdict, and the evidence."""

from orthodrome.diagnostics.diagnosis import diagnose, summary
from orthodrome.diagnostics.evidence import log_evidence
from orthodrome.diagnostics.ks_distance import ks_distance

__all__ = ["diagnose", "ks_distance", "log_evidence", "summary"]
