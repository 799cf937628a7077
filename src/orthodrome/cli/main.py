"""The command line: `orthodrome demo`, the models, `sample`, `check` and `reproduce`.

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
import typer.core

from orthodrome.cli import cluster as cli_cluster
from orthodrome.cli import directional as cli_directional
from orthodrome.cli import launch as cli_launch
from orthodrome.cli import network as cli_network
from orthodrome.cli import report as cli_report
from orthodrome.cli import reproduce as cli_reproduce
from orthodrome.cli import sample as cli_sample
from orthodrome.cli import teams as cli_teams
from orthodrome.cli import terminal
from orthodrome.cli import topics as cli_topics
from orthodrome.cli import watch as cli_watch
from orthodrome.cli.reproduce import Out, Seed
from orthodrome.cli.terminal import console, let_threads_sleep
from orthodrome.core.display import shown
from orthodrome.core.streams import Forgiving, give_up, open_closed_streams
from orthodrome.errors import OrthodromeError, OrthodromeWarning

PANELS = FITS, OWN, RUNS, SHOWN = "Models of your data", "Your own model", "Runs", "Demonstration and papers"
"""The headings under which the commands are listed."""


class InPanels(typer.core.TyperGroup):
    """A group whose help lists its commands by their headings."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of their headings."""
        commands: Any = self.commands
        return sorted(super().list_commands(ctx), key=lambda name: PANELS.index(commands[name].rich_help_panel))


app = typer.Typer(
    name="orthodrome",
    cls=InPanels,
    help="Draws from posteriors on spheres, simplices, frames, rotations, level sets and their products.",
    no_args_is_help=True,
    epilog="Examples:\n\northodrome demo\n\northodrome topics fit --input texts.csv --text-column body --output fit",
    add_completion=True,
    pretty_exceptions_enable=False,
)

app.add_typer(cli_topics.app, name="topics", rich_help_panel=FITS)
app.add_typer(cli_cluster.app, name="cluster", rich_help_panel=FITS)
app.add_typer(cli_teams.app, name="compare-teams", rich_help_panel=FITS)
app.add_typer(cli_network.app, name="network", rich_help_panel=FITS)
app.add_typer(cli_directional.app, name="directional", rich_help_panel=FITS)
app.add_typer(cli_sample.app, name="sample", rich_help_panel=OWN)
listed = lambda panel, example: app.command(epilog=f"Example:\n\northodrome {example}", rich_help_panel=panel)
listed(OWN, "check sde.py --tolerance 1e-6")(cli_sample.check)
listed(RUNS, "report demo/topics")(cli_report.report)
listed(RUNS, "watch demo/topics --page")(cli_watch.watch)
listed(RUNS, "launch -n 2 -- orthodrome topics resume fit")(cli_launch.launch)
listed(SHOWN, "reproduce --all --data DATA --output results")(cli_reproduce.reproduce)

# The base of what typer raises for a wrong command line, wherever its version keeps it.
WrongCommandLine: Any = typer.BadParameter.__mro__[2]


class DemoJob(enum.StrEnum):
    """What the demonstration shows."""

    TOPICS = "topics"
    INSTRUMENTS = "instruments"


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


@listed(SHOWN, "demo --output demo")
def demo(
    out: Out = Path("demo"),
    seed: Seed = 0,
    job: Annotated[DemoJob, typer.Option(help="topics: SAM; instruments: four manifolds at once.")] = DemoJob.TOPICS,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Show a demonstration: spherical topics of Python's own documentation, in at most two minutes."""
    terminal.refuse_processes("demo")
    if job is DemoJob.TOPICS:
        let_threads_sleep()
        from orthodrome.jobs.topics.demo import demo as demonstrate

        demonstrate(out / "topics", seed, console(), not quiet)
    else:
        two_instruments(out, seed, not quiet)


def two_instruments(out: Path, seed: int, progress: bool = True) -> None:
    """Sample a posterior on a product of four manifolds, then reproduce Fig. 4 of Byrne & Girolami."""
    terminal.use_all_cores()
    from orthodrome.experiments.support.contract import check_seed, own_folder
    from orthodrome.jobs.reproduce.run import run_one
    from orthodrome.jobs.two_instruments import show

    check_seed(seed)
    with own_folder(out / "instruments") as folder:
        show(folder, seed, console(), progress)
    run_one("gmc-bvmf", "quick", seed, out, None, console(), progress, most=6)
