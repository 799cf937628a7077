"""The architecture: one direction between rooms, one kind of thing in each, and names that mean one thing."""

from __future__ import annotations

import ast
import graphlib
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from orthodrome.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[1] / "src" / "orthodrome"
ORDER = (
    "errors core linear special random",
    "manifolds densities targets gradients schedules",
    "metrics dynamics samplers.learnt samplers.contract samplers.exact samplers.stochastic samplers.holders samplers "
    "tuning recipe checks",
    "storage doors diagnostics run",
    "corpora kernels models.base models.modes models.topics models.sam models.lda models.mixture models.comparison "
    "models.network models.directional models",
    "plots report interop experiments.support experiments jobs cli __main__",
)
"""Rooms from left to right: a module imports only from its own room and from rooms to the left of it."""
LEVEL = {room: level for level, room in enumerate(" ".join(ORDER).split())}
LOOSE = {"__init__", "__main__", "errors", "schedules", "targets"}
MOST_FILES = 20


@cache
def nodes_of(text: str) -> tuple[ast.AST, ...]:
    """Return all nodes of a source text, which is read once for all tests."""
    return tuple(ast.walk(ast.parse(text)))


@cache
def imports(text: str) -> frozenset[str]:
    """Return every module of ours that a source text imports, anywhere in it."""
    found: set[str] = set()
    for node in nodes_of(text):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(name.removeprefix("orthodrome.") for name in found if name.startswith("orthodrome."))


def modules() -> dict[str, str]:
    """Return the source of every module by its dotted name inside the package."""
    paths = [path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py"]
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths}
    return {name: path.read_text() for path, name in names.items()}


SOURCES = modules()
ALL = list(SOURCES.items())


def room(name: str) -> str:
    """Return the most specific room that a module belongs to."""
    parts = name.split(".")
    return next((head for n in range(len(parts), 0, -1) if (head := ".".join(parts[:n])) in LEVEL), "")


def wrong_way(name: str, text: str) -> set[str]:
    """Return the imports from rooms to the right of the module's own."""
    found = {other for other in imports(text) if room(other) and LEVEL[room(other)] > LEVEL[room(name)]}
    # `from package import module` names the package too, which says nothing if the module is to the left.
    return {other for other in found if not any(longer.startswith(f"{other}.") for longer in imports(text))}


def test_every_module_has_a_room() -> None:
    assert [name for name in SOURCES if not room(name)] == []


def test_imports_go_one_way() -> None:
    assert {name: wrong for name, text in SOURCES.items() if (wrong := wrong_way(name, text))} == {}


def test_nothing_imports_in_a_circle() -> None:
    uses = {name: {other for other in imports(text) if other in SOURCES} - {name} for name, text in SOURCES.items()}
    # A package's own __init__ gathers its files; a file that uses a sister goes to the sister, not to the package.
    uses = {name: {other for other in others if not name.startswith(f"{other}.")} for name, others in uses.items()}
    graphlib.TopologicalSorter(uses).prepare()


def test_no_relative_imports() -> None:
    nodes = ((name, node) for name, text in SOURCES.items() for node in nodes_of(text))
    assert [name for name, node in nodes if isinstance(node, ast.ImportFrom) and node.level] == []


def test_few_modules_are_loose_and_no_folder_is_crowded() -> None:
    assert {path.stem for path in ROOT.glob("*.py")} == LOOSE
    folders = [folder for folder in ROOT.rglob("*") if folder.is_dir()]
    crowded = {folder.name: n for folder in folders if (n := len(list(folder.glob("*.py")))) > MOST_FILES + 1}
    assert crowded == {}


def test_files_that_share_a_prefix_are_a_package() -> None:
    """Two may be a pair; the experiments' first word is the paper, by which they are called on the command line."""
    folders = [folder for folder in ROOT.rglob("*") if folder.is_dir() and folder.name != "experiments"]
    names = {folder: [path.stem.split("_")[0] for path in folder.glob("[a-z]*_*.py")] for folder in folders}
    assert {folder.name: word for folder, words in names.items() for word in words if words.count(word) > 2} == {}


def test_the_experiments_folder_holds_exactly_the_experiments() -> None:
    """One file each; a paper with many has a folder, whose name is the first word of theirs."""
    room = ROOT / "experiments"
    paths = [path.relative_to(room).with_suffix("") for path in room.rglob("*.py") if path.stem != "__init__"]
    files = {"_".join(path.parts) for path in paths if path.parts[0] != "support"}
    assert {name.replace("-", "_") for name in EXPERIMENTS} == files


def test_a_wrong_import_is_seen() -> None:
    assert wrong_way("core.trees", "def f():\n    from orthodrome.run.sample import sample\n") == {"run.sample.sample"}
    assert wrong_way("samplers.exact.random_walk", "import orthodrome.tuning.scales") == {"tuning.scales"}
    assert wrong_way("run.loop", "import orthodrome.core.trees") == set()
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()


# --- names ------------------------------------------------------------------------------------------------------------

OF_NAMED_TUPLES = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
OF_THE_SYSTEM = {"_exit"}
"""What Python's own library names so without its being private (`os._exit`)."""


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """Yield the module and the definition of every class."""
    for name, text in SOURCES.items():
        yield from ((name, node) for node in nodes_of(text) if isinstance(node, ast.ClassDef))


def sampler_classes() -> dict[str, str]:
    """Return the module of every concrete sampler by its name: the classes with a `step`, or the part of it that one
    device takes alone, the contracts aside."""
    rooms = ("samplers", "tuning", "recipe", "models")
    found = {}
    for name, node in classes():
        steps = any(isinstance(part, ast.FunctionDef) and part.name in ("step", "alone") for part in node.body)
        if steps and name.split(".")[0] in rooms and not name.startswith(("samplers.contract", "tuning.tuner")):
            found[node.name] = name
    return found


def asked_classes(text: str) -> set[str]:
    """Return the names of all classes that `isinstance` or `issubclass` is asked about."""
    calls = (node for node in nodes_of(text) if isinstance(node, ast.Call) and len(node.args) == 2)
    asked = (node.args[1] for node in calls if isinstance(node.func, ast.Name) and node.func.id in ASKING)
    parts = (part for node in asked for part in ast.walk(node))
    return {part.attr if isinstance(part, ast.Attribute) else part.id for part in parts if isinstance(part, NAMING)}


ASKING, NAMING = {"isinstance", "issubclass"}, (ast.Name, ast.Attribute)


def private_names(text: str) -> set[str]:
    """Return the private names that a module imports, or uses as attributes without defining them."""
    nodes = nodes_of(text)
    own = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    own |= {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
    own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    imported = {alias.name for n in nodes if isinstance(n, ast.ImportFrom) for alias in n.names}
    used = {n.attr for n in nodes if isinstance(n, ast.Attribute)} - own - OF_NAMED_TUPLES - OF_THE_SYSTEM
    return {name for name in imported | used if name.startswith("_") and not name.endswith("__")}


def test_nobody_asks_for_the_class_of_a_sampler() -> None:
    samplers = sampler_classes()
    assert {"GeodesicHMC", "SGGMC", "Tempering", "Adapted", "Recipe", "EigenmodelGibbs"} <= set(samplers)
    asked = {name: {one for one in asked_classes(text) if samplers.get(one, name) != name} for name, text in ALL}
    assert {name: found for name, found in asked.items() if found} == {}


def test_class_names_are_unique() -> None:
    counted = Counter(node.name for _, node in classes())
    assert {name for name, number in counted.items() if number > 1} == set()


def test_no_private_name_is_used_across_modules() -> None:
    found = {(name, private) for name, text in ALL for private in private_names(text)}
    assert found == set()


def test_wrong_names_are_seen() -> None:
    assert asked_classes("isinstance(a, exact.HMC | NUTS) or issubclass(b, (Gibbs, int))") == {
        *("exact", "HMC", "NUTS", "Gibbs", "int")
    }
    assert private_names("from a import _b, c\nc._d()\nx._replace(y=c.__name__)") == {"_b", "_d"}
    assert private_names("class A:\n    def _e(self): self._f = self._e()\nA()._e") == set()


CLOCK = re.compile(r"\btime\.(?!sleep)\w+\(|ru_[us]time|timeit")


def test_no_test_asks_a_clock() -> None:
    """A busy machine would fail it: cost is counted here, and timed in benchmarks."""
    here = Path(__file__)
    asking = {path.name for path in here.parent.rglob("*.py") if path != here and CLOCK.search(path.read_text())}
    assert asking == set()
    assert CLOCK.search("began = time.perf_counter()") and not CLOCK.search("time.sleep(0.01)")


def test_the_developer_guide_has_the_same_order() -> None:
    guide = (ROOT.parents[1] / "docs" / "development" / "developer.md").read_text()
    told = guide.split("```text\n")[1].split("```")[0].split()
    rooms = [room for room in " ".join(ORDER).split() if "." not in room and room != "__main__"]
    assert told == rooms
