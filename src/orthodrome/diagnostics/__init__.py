"""What the draws say about themselves: convergence, summaries, a verdict, and the evidence."""

from orthodrome.diagnostics.diagnosis import diagnose, summary
from orthodrome.diagnostics.evidence import log_evidence

__all__ = ["diagnose", "log_evidence", "summary"]
