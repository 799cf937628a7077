"""The scheduler of pytest-xdist that gives tests to processes by group, and goes on where a process dies."""

from __future__ import annotations

from collections.abc import Sequence

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from support.groups import group_of


class ByGroup(LoadScopeScheduling):
    """Groups of tests for each process, as `--dist loadgroup` means them.

    pytest-xdist reads its groups from markers, and does not find these in every version of pytest. Where a process
    dies (an abort inside compiled code), its scheduler hands out again whatever was given to the dead process: groups
    that are complete, which no process ever reports on, so that the run waits for ever; and the test that killed the
    process, which kills the next one.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def remove_node(self, node: WorkerController) -> str | None:
        """Take a process off the list, and return the test that it died of, which is not run again, or None."""
        given = self.assigned_work[node]
        for group in [name for name, tests in given.items() if all(tests.values())]:
            del given[group]
        left = next(((tests, test) for tests in given.values() for test, done in tests.items() if not done), None)
        if left is None:
            return super().remove_node(node)
        tests, died_of = left
        tests[died_of] = True
        self.assigned_work.pop(node)
        self.workqueue.update({name: tests for name, tests in given.items() if not all(tests.values())})
        for other in self.nodes:
            self._reschedule(other)
        return died_of

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        """Note which tests a process has found; one that came later must have found the same."""
        super().add_node_collection(node, collection)
        if node not in self.registered_collections:
            raise RuntimeError("a process that replaces one that died has found other tests than the first ones did")

    def _reschedule(self, node: WorkerController) -> None:
        """Give a process more, if it is short of tests: it holds its last one back until it is told what follows."""
        if node not in self.registered_collections:  # it is given work once it has found the tests
            return
        super()._reschedule(node)
        while self.workqueue and not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)
