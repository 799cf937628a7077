"""One self-contained HTML page for each run: what was run, whether it can be trusted, and the model's own picture."""

from orthodrome.report.section import Section, TableTwin
from orthodrome.report.write import write_report

__all__ = ["Section", "TableTwin", "write_report"]
