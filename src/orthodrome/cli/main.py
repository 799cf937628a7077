"""The command line: `orthodrome demo`, `topics`, `cluster` and `reproduce`.

An error is one clear line and a code that is not zero; a traceback only with `--debug`. JAX and everything heavy are
imported inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import enum
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from orthodrome.cli import cluster as cli_cluster
from orthodrome.cli import directional as cli_directional
from orthodrome.cli import launch as cli_launch
from orthodrome.cli import network as cli_network
from orthodrome.cli import report as cli_report
from orthodrome.cli import sample as cli_sample
from orthodrome.cli import teams as cli_teams
from orthodrome.cli import topics as cli_topics
from orthodrome.cli import watch as cli_watch
from orthodrome.cli.terminal import console, let_threads_sleep, use_all_cores
from orthodrome.core.display import shown
from orthodrome.core.streams import Forgiving, give_up, open_closed_streams
from orthodrome.errors import OrthodromeError, OrthodromeWarning

app = typer.Typer(
    name="orthodrome",
    help="Draws from posteriors on spheres, simplices, frames, rotations, level sets and their products.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(cli_topics.app, name="topics")
app.add_typer(cli_cluster.app, name="cluster")
app.command()(cli_report.report)
app.command()(cli_watch.watch)
app.add_typer(cli_teams.app, name="compare-teams")
app.add_typer(cli_network.app, name="network")
app.add_typer(cli_directional.app, name="directional")
app.add_typer(cli_sample.app, name="sample")
app.command(name="check", epilog="Example: orthodrome check sde.py --tolerance 1e-6")(cli_sample.check)
app.command()(cli_launch.launch)

# The base of what typer raises for a wrong command line, wherever its version keeps it.
WrongCommandLine: Any = typer.BadParameter.__mro__[2]


class Scale(enum.StrEnum):
    """The size of a reproduction."""

    QUICK = "quick"
    PAPER = "paper"


class DemoJob(enum.StrEnum):
    """What the demonstration shows."""

    TOPICS = "topics"
    INSTRUMENTS = "instruments"


Out = Annotated[Path, typer.Option(help="The folder to write to.")]
Seed = Annotated[int, typer.Option(help="The seed of all randomness.")]
Data = Annotated[Path | None, typer.Option(help="Where the data is, if the experiment needs any (or ORTHODROME_DATA).")]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    open_closed_streams()
    words = sys.argv[1:] if arguments is None else arguments
    with warnings.catch_warnings():
        warnings.showwarning = tell_warning
        own = words.index("--") if "--" in words else len(words)  # what comes after is another program's
        return run([word for word in words[:own] if word != "--debug"] + words[own:], "--debug" in words[:own])


def run(words: list[str], debug: bool) -> int:
    """Run a command; returns the exit code."""
    try:
        code = app(words, standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return fail("stopped", 130)
    except BrokenPipeError as error:  # `| head -1`: whoever reads has read enough
        give_up(sys.stdout, error)
        return 0
    except WrongCommandLine as error:
        return fail(error.format_message(), error.exit_code)
    except Exception as error:
        if debug:
            raise
        return fail(explain(error))
    return code if isinstance(code, int) else 0


def fail(message: str, code: int = 1) -> int:
    """Print one line on the error stream, and return the exit code."""
    line = shown(" ".join(message.split()))
    if line:
        print(f"orthodrome: {line}", file=Forgiving(sys.stderr), flush=True)
    return code


def tell_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    """Print a warning of ours in one line; those of other packages are for developers."""
    if issubclass(category, OrthodromeWarning):
        fail(f"warning: {message}")


def explain(error: Exception) -> str:
    """Return what went wrong in one line; an internal error says how to see the traceback."""
    if isinstance(error, OrthodromeError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"cannot read or write {where}{error.strerror}"
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error or 'ask for less'}; fewer topics, words or draws need less"
    return f"unexpected {type(error).__name__}: {error}; run it again with --debug for the whole story"


def show_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        import orthodrome

        print(f"orthodrome {orthodrome.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Draw from posteriors on spheres, simplices, frames, rotations, level sets and their products."""


@app.command()
def demo(
    out: Out = Path("demo"),
    seed: Seed = 0,
    job: Annotated[DemoJob, typer.Option(help="topics: SAM; instruments: four manifolds at once.")] = DemoJob.TOPICS,
) -> None:
    """Show a demonstration: spherical topics of Python's own documentation, in at most two minutes."""
    if job is DemoJob.TOPICS:
        let_threads_sleep()
        from orthodrome.jobs.topics.demo import demo as demonstrate

        demonstrate(out / "topics", seed, console())
    else:
        two_instruments(out, seed)


def two_instruments(out: Path, seed: int) -> None:
    """Sample a posterior on a product of four manifolds, then reproduce Fig. 4 of Byrne & Girolami."""
    use_all_cores()
    from orthodrome.experiments.support.contract import check_seed, own_folder
    from orthodrome.jobs.two_instruments import show

    check_seed(seed)
    with own_folder(out / "instruments") as folder:
        show(folder, seed, console())
    reproduce_one("gmc-bvmf", "quick", seed, out, None, most=6)


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="The experiment; --list shows them.")] = None,
    scale: Annotated[
        Scale, typer.Option(help="quick takes under a minute; paper has the paper's sizes.")
    ] = Scale.QUICK,
    data: Data = None,
    out: Out = Path("results"),
    seed: Seed = 0,
    list_: Annotated[bool, typer.Option("--list", help="Show the experiments and exit.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Run every experiment.")] = False,
) -> None:
    """Reproduce a figure or table of the papers: result.json, PNG, SVG and CSV in OUT/NAME."""
    from orthodrome.experiments import EXPERIMENTS

    if list_:
        return show_experiments()
    if all_ == (name is not None):
        raise typer.BadParameter("say which experiment, or --all, or --list", param_hint="NAME")
    names = list(EXPERIMENTS) if all_ else [str(name)]
    check_names(names)
    use_all_cores()
    for each in names:
        reproduce_one(each, scale.value, seed, out, data)


def check_names(names: list[str]) -> None:
    """Raise for an unknown experiment before anything heavy is loaded."""
    from orthodrome.experiments import EXPERIMENTS

    for name in names:
        if name not in EXPERIMENTS:
            raise typer.BadParameter(f"there is no {name!r}; there are: {', '.join(EXPERIMENTS)}", param_hint="NAME")


def reproduce_one(name: str, scale: str, seed: int, out: Path, data: Path | None, most: int | None = None) -> None:
    """Run one experiment and print its claims, or the first `most` of them."""
    from orthodrome.experiments.support.contract import load, reproduce

    console().print(f"\n{name}: {load(name).TITLE}", style="bold")
    show_claims(reproduce(name, scale=scale, seed=seed, out=out, data=data, progress=True), out / name, most)


def show_claims(result: dict[str, Any], folder: Path, most: int | None = None) -> None:
    """Print the claims as a table, and where the files are."""
    from rich.table import Table
    from rich.text import Text

    table = Table("claim", "measured", "holds", title_justify="left", expand=False)
    verdicts = {True: Text("yes", style="green"), False: Text("no", style="red")}
    for claim in result["claims"][:most]:
        table.add_row(claim["text"], shorten(claim["measured"]), verdicts[bool(claim["holds"])])
    held = sum(claim["holds"] for claim in result["claims"])
    screen = console()
    screen.print(table)
    screen.print(f"{held} of {len(result['claims'])} claims hold; {result['seconds']:.0f} s; written to {folder}/")


def shorten(value: Any) -> str:
    """Return a number or a list of numbers as a text that is short enough for a table."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {shorten(item)}" for key, item in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def show_experiments() -> None:
    """Print the experiments that can be reproduced."""
    from rich.table import Table

    from orthodrome.experiments import EXPERIMENTS
    from orthodrome.experiments.support.contract import load

    table = Table("name", "what", "paper", "data")
    for name in EXPERIMENTS:
        module = load(name)
        table.add_row(name, module.TITLE, module.PAPER, module.DATA or "none needed")
    console().print(table)
