"""What the draws say about themselves: convergence, summaries, a verdict, and the evidence."""

from orthodrome.diagnostics.evidence import log_evidence
from orthodrome.diagnostics.verdict import diagnose, summary

__all__ = ["diagnose", "log_evidence", "summary"]
