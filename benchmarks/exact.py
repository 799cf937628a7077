"""Exact samplers side by side: min-ESS per second and per gradient, four chains on two cores, medians of five seeds.

Every method runs in a process of its own, one after the other, with the number of devices it works best with.
Compilation and warm-up are reported apart; "with warm-up" counts the seconds of both phases. ESS is that of means and
squares, "by ranks" the rank-normalised one of the coordinates, per gradient. JAX methods are in float32.

    python -m benchmarks.exact [--quick] [--method NAME ...] [--law NAME ...]
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.laws import Law, all_laws, exact_moments
from benchmarks.measure import WRONG, figures, largest_z, median

RESULTS = Path(__file__).parent / "results"
NUM_WARMUP = 1000
BAR = 0.7


class Method(NamedTuple):
    """Where a method is, how many CPU devices JAX shows it, on which spaces it works.

    warmup, draws: per chain, for interpreted methods; None: as many as the compiled ones
    """

    place: str
    devices: int
    spaces: str
    warmup: int | None = None
    draws: int | None = None


METHODS = {
    "GeodesicHMC": Method("ours:hmc", 2, "sphere frame simplex"),
    "GeodesicNUTS": Method("ours:nuts", 2, "sphere frame simplex"),
    "square-root map": Method("ours:square_root", 2, "simplex"),
    "hand-tuned": Method("hand_tuned:run", 2, "sphere frame simplex"),
    "NumPyro NUTS": Method("peers:numpyro_nuts", 4, "sphere frame simplex"),
    "BlackJAX NUTS": Method("peers:blackjax_nuts", 4, "sphere frame simplex"),
    "mici CHMC": Method("numpy_peers:mici_chmc", 1, "sphere frame", 80, 120),
    "geosss HMC": Method("numpy_peers:geosss_hmc", 1, "sphere", 500, 1500),
    "geosss slice": Method("numpy_peers:geosss_slice", 1, "sphere", 500, 4000),
}
OURS = ("GeodesicHMC", "GeodesicNUTS")
PEERS = tuple(name for name in METHODS if name not in (*OURS, "square-root map", "hand-tuned"))


def work(name: str, law_names: list[str], quick: bool) -> Iterator[dict[str, Any]]:
    """In the child: one record per law."""
    method = METHODS[name]
    run = load(method.place)
    for law in chosen(law_names, method):
        seeds = range(2 if quick else 5)
        warmup = (method.warmup or NUM_WARMUP) // (4 if quick else 1)
        draws = (method.draws or law.num_draws) // (10 if quick else 1)
        began = time.perf_counter()
        seeds_figures = [figures(each) for each in run(law, seeds, warmup, draws)]
        yield {"method": name, "law": law.name, "seeds": seeds_figures, "all_seconds": time.perf_counter() - began}


def load(place: str) -> Callable[..., Iterator[Any]]:
    module, function = place.split(":")
    return getattr(importlib.import_module(f"benchmarks.{module}"), function)


def chosen(law_names: list[str], method: Method) -> list[Law]:
    return [law for law in all_laws() if law.space in method.spaces.split() and law.name in law_names]


def start(name: str, law_names: list[str], quick: bool) -> list[dict[str, Any]]:
    """In the parent: run one method in a process of its own."""
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_CPU_DEVICES": str(METHODS[name].devices),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "records.json"
        command = [sys.executable, "-m", "benchmarks.exact", "--child", str(out), "--method", name, "--law", *law_names]
        done = subprocess.run(command + ["--quick"] * quick, env=environment, capture_output=True, text=True)
        if done.returncode:
            print(f"{name} failed:\n{done.stderr[-3000:]}", file=sys.stderr)
        return json.loads(out.read_text()) if out.exists() else []


def judge(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Medians over seeds, and z against the exact moments."""
    truth = {law.name: exact_moments(law) for law in all_laws() if any(r["law"] == law.name for r in records)}
    rows = []
    for record in records:
        seeds = record["seeds"]
        names = ("per_second", "per_second_with_warmup", "per_gradient", "ranks_per_gradient", "min_ess", "seconds")
        names += ("warmup_seconds", "compile_seconds")
        row = {"law": record["law"], "method": record["method"]} | {name: median(seeds, name) for name in names}
        z = largest_z(seeds, truth[record["law"]])
        rows.append(row | {"z": z, "right": z < WRONG, "draws": seeds[0]["draws"], "note": seeds[-1]["note"]})
    return rows


def verdicts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ours over the bar, and over the best right peer, law by law."""
    out = []
    for law in dict.fromkeys(row["law"] for row in rows):
        of_law = {row["method"]: row for row in rows if row["law"] == law}
        for name in OURS:
            if name in of_law:
                out.append({"law": law, "method": name} | ratios(of_law, name))
    return out


def ratios(of_law: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """Per second and per gradient, over hand-tuned and over the best peer in each."""
    found: dict[str, Any] = {}
    for figure in ("per_second", "per_second_with_warmup", "per_gradient", "ranks_per_gradient"):
        best = max((of_law[p][figure] or 0.0 for p in PEERS if p in of_law and of_law[p]["right"]), default=0.0)
        hand = (of_law.get("hand-tuned") or {}).get(figure)
        if figure in ("per_second", "per_gradient"):
            found[f"{figure} / hand-tuned"] = of_law[name][figure] / hand if hand else None
        found[f"{figure} / best peer"] = of_law[name][figure] / best if best else None
    return found


def show(rows: list[dict[str, Any]], compared: list[dict[str, Any]]) -> None:
    """Two tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 170)
    table = Table("law", "method", title="Exact samplers: 4 chains, 2 cores, median over seeds")
    titles = ("min-ESS/s", "with warm-up", "per gradient", "by ranks", "sampling s", "warm-up s", "compile s", "z", "")
    for title in titles:
        table.add_column(title, justify="right" if title else "left")
    last = ""
    for row in sorted(rows, key=lambda row: [law.name for law in all_laws()].index(row["law"])):
        gradient, ranks = ("-" if row[k] is None else f"{row[k]:.3f}" for k in ("per_gradient", "ranks_per_gradient"))
        mark = "" if row["right"] else "[bold red]WRONG[/] "
        table.add_section() if last and last != row["law"] else None
        name = row["law"] if last != row["law"] else ""
        table.add_row(
            name, row["method"], f"{row['per_second']:,.0f}", f"{row['per_second_with_warmup']:,.0f}", gradient, ranks,
            f"{row['seconds']:.2f}", f"{row['warmup_seconds']:.2f}", f"{row['compile_seconds']:.1f}", f"{row['z']:.1f}",
            mark + row["note"],
        )  # fmt: skip
        last = row["law"]
    console.print(table)
    table = Table(
        "law", "method", title=f"Ours, self-tuned, over the others (the bar for min-ESS/s over hand-tuned: {BAR})"
    )
    for title in list(compared[0])[2:] if compared else []:
        table.add_column(title, justify="right")
    for row in compared:
        table.add_row(
            *[value if isinstance(value, str) else "-" if value is None else f"{value:.2f}" for value in row.values()]
        )
    console.print(table)


def machine() -> dict[str, Any]:
    """What the numbers were measured with; None: not installed, so not measured."""
    from importlib.metadata import PackageNotFoundError, version

    def installed(name: str) -> str | None:
        try:
            return version(name)
        except PackageNotFoundError:
            return None

    names = ("orthodrome", "jax", "numpy", "numpyro", "blackjax", "mici", "geosss", "arviz-stats")
    cores = len(os.sched_getaffinity(0))
    return {"cores": cores, "python": platform.python_version()} | {name: installed(name) for name in names}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two seeds and a tenth of the draws: does it run?")
    parser.add_argument("--method", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--law", nargs="+", default=[law.name for law in all_laws()])
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    chosen_options = parser.parse_args(arguments)
    if chosen_options.child:
        records = list(work(chosen_options.method[0], chosen_options.law, chosen_options.quick))
        chosen_options.child.write_text(json.dumps(records))
        return
    began, records = time.perf_counter(), []
    for name in chosen_options.method:
        print(f"{time.perf_counter() - began:5.0f} s  {name}", file=sys.stderr, flush=True)
        records += start(name, chosen_options.law, chosen_options.quick)
    rows = judge(records)
    compared = verdicts(rows)
    RESULTS.mkdir(exist_ok=True)
    report = {"machine": machine(), "quick": chosen_options.quick, "table": rows, "compared": compared}
    (RESULTS / "exact.json").write_text(json.dumps(report, indent=1))
    show(rows, compared)
    print(f"{time.perf_counter() - began:.0f} s in all; {RESULTS / 'exact.json'}")


if __name__ == "__main__":
    main()
