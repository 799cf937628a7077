"""Make `reference/options.md`: the options of every command, from the dataclasses that the commands are made of."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from orthodrome.jobs.checking import CheckJob
from orthodrome.jobs.cluster.job import ClusterJob
from orthodrome.jobs.directional.job import DirectionalJob
from orthodrome.jobs.network.job import NetworkJob
from orthodrome.jobs.options import Option, flag, options_of
from orthodrome.jobs.sample.job import SampleJob
from orthodrome.jobs.teams.job import TeamsJob
from orthodrome.jobs.topics.job import Job

PAGE = Path(__file__).parent / "reference" / "options.md"
HEAD = """# All options

Made by `docs/make_options.py` from the dataclasses of the jobs, from which the command line and the saved `job.json`
are made too. `fit` of every model also has `--output`, `--quiet` and, where it is not listed here, `--input`.
"""
COMMANDS: dict[str, Any] = {
    "topics fit": Job,
    "cluster fit": ClusterJob,
    "compare-teams fit": TeamsJob,
    "network fit": NetworkJob,
    "directional fit": DirectionalJob,
    "sample MODEL.py": SampleJob,
    "check MODEL.py": CheckJob,
}


def default_of(field: dataclasses.Field[Any]) -> str:
    """Return the default of an option as it would be written."""
    if field.default is None or field.default == "":
        return ""
    return f"`{'a space' if field.default == ' ' else field.default}`"


def row(name: str, field: dataclasses.Field[Any], about: Option) -> str:
    """Return the line of an option."""
    names = ", ".join(f"`{word}`" for word in about.names or (flag(name),))
    only = f" Only with `{flag(about.of)} {about.only}`." if about.only else ""
    words = f" One of {', '.join(about.choices)}." if about.choices else ""
    text = f"{about.help}{only}{words}".replace("|", "\\|").replace("<", "&lt;")
    return f"| {names} | {default_of(field)} | {text} |"


def page() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for command, job in COMMANDS.items():
        rows = [row(name, field, about) for name, (field, about) in options_of(job).items()]
        parts.append("\n".join([f"\n## `{command}`\n", "| option | default | what it is |", "|---|---|---|", *rows]))
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
