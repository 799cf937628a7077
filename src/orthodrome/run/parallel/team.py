"""What the processes of a run say to each other: numbers they agree upon, arrays, texts and failures.

Everything here is a collective of JAX over one device of each process, so all processes must ask for the same things in
the same order. They do because what they decide between chunks (how long the next one is, whether to commit, to stop)
they decide from what `meet` has brought together. A process that has failed joins the next meeting with its failure
(`confess`), and all end with an error that names it; arrays and texts are gathered right after a meeting only, when
nobody has failed. Bytes are exchanged, so that no dtype is narrowed on the way.

A peer that died makes an exchange fail at once (`LostPeer`); then nobody is waited for.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from orthodrome.errors import OrthodromeError
from orthodrome.run.parallel.hosts import this_process
from orthodrome.run.parallel.one_device import copied, one_device_each, spread

NUMBERS = 7
"""How many numbers a meeting exchanges, at most."""
LONGEST_TEXT = 2000
"""The most bytes of a text that are passed on."""


class PeerFailed(OrthodromeError):
    """Another process of this run met an error, which this one repeats."""


class LostPeer(OrthodromeError):
    """Another process of this run has ended without a word."""


class Ledger:
    """What was exchanged so far in this process: how often, how many bytes it gave, and the seconds it took, waiting
    for the others included."""

    def __init__(self) -> None:
        self.times, self.bytes, self.seconds = 0, 0, 0.0

    @contextlib.contextmanager
    def entry(self, size: int) -> Iterator[None]:
        """Count one exchange."""
        began = time.perf_counter()
        yield
        self.times, self.bytes = self.times + 1, self.bytes + size
        self.seconds += time.perf_counter() - began


ledger = Ledger()
"""The exchanges of this process."""


class Team:
    """The processes of this run, with the interface of `storage.peers`."""

    def __init__(self) -> None:
        self.process, self.processes = this_process()

    @property
    def first(self) -> bool:
        """Whether this is the first process."""
        return self.process == 0

    def meet(self, *numbers: int) -> np.ndarray:
        """Exchange a few whole numbers: (process, number); raise if another process has failed."""
        return self._meet(numbers, "")[:, : len(numbers)]

    def confess(self, error: BaseException) -> None:
        """Tell the others, who are on their way to a meeting, that this process has failed."""
        self._meet((), " ".join(str(error).split()) or type(error).__name__)

    @contextlib.contextmanager
    def sharing_failures(self) -> Iterator[None]:
        """End on all processes if an error ends the body on one; losing a peer is not told to peers."""
        try:
            yield
        except (PeerFailed, LostPeer):
            raise
        except Exception as error:
            with contextlib.suppress(PeerFailed, LostPeer):
                self.confess(error)
            raise

    def gather(self, values: Any) -> np.ndarray:
        """Return the arrays of all processes, which have one shape, stacked; only right after a `meet`."""
        if self.processes == 1:
            return np.asarray(values)[None]
        own = np.ascontiguousarray(values)
        found = self._exchange(own.reshape(1, -1).view(np.uint8))
        return np.ascontiguousarray(found).view(own.dtype).reshape(self.processes, *np.shape(values))

    def total(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over processes of whole numbers, which is exact in any order."""
        if self.processes == 1:
            return values
        with naming_the_lost(), jax.enable_x64(True), ledger.entry(values.nbytes):
            found = _summed(one_device_each())(spread(values.reshape(1, -1), self.processes))
            return np.asarray(found.addressable_data(0)).reshape(values.shape)

    def texts(self, text: str) -> list[str]:
        """Return the texts of all processes; only right after a `meet`."""
        padded = text.encode()[:LONGEST_TEXT].ljust(LONGEST_TEXT, b"\0")
        found = self.gather(np.frombuffer(padded, np.uint8))
        return [row.tobytes().rstrip(b"\0").decode(errors="replace") for row in found]

    def rows(self, values: np.ndarray) -> np.ndarray:
        """Return rows of all processes, those of the first one first; only right after a `meet`."""
        return values if self.processes == 1 else self.gather(values).reshape(-1, *values.shape[1:])

    def _meet(self, numbers: tuple[int, ...], failure: str) -> np.ndarray:
        row = np.zeros(NUMBERS + 1, np.int64)
        row[: len(numbers)], row[-1] = numbers, bool(failure)
        found = self.gather(row)
        if np.any(found[:, -1]) and self.processes > 1:
            texts = self.texts(failure)
            number = int(np.argmax(found[:, -1]))
            if not failure:
                raise PeerFailed(f"process {number} of {self.processes} failed: {texts[number]}")
        return found

    def _exchange(self, own: np.ndarray) -> np.ndarray:
        with naming_the_lost(), ledger.entry(own.nbytes):
            return np.asarray(copied(one_device_each())(spread(own, self.processes)).addressable_data(0))


@functools.cache
def _summed(mesh: Mesh) -> Any:
    everywhere = NamedSharding(mesh, PartitionSpec())
    return jax.jit(lambda values: values.sum(axis=0, dtype=values.dtype), out_shardings=everywhere)


@contextlib.contextmanager
def naming_the_lost() -> Iterator[None]:
    """Turn what JAX raises in a collective into a `LostPeer`: the others, who may be inside it, cannot be told."""
    try:
        yield
    except Exception as error:
        if this_process().processes == 1 or isinstance(error, LostPeer):
            raise
        raise LostPeer(
            "the processes of this run lost each other: one of them has ended, or its network; what is committed is "
            f"kept, and starting all again goes on from there ({(str(error).splitlines() or ['?'])[0][:200]})"
        ) from error
