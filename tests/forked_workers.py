"""Plugin of pytest: ``--forks=3`` collects the tests once, and three forks run them.

Each worker of pytest-xdist starts from nothing: it imports the course and collects all tests,
which takes 13 seconds of a core. A fork has both. It takes the tests of a group together, for which
the hook ``pytest_group_of_test`` says the same, and sends their reports to this process, which
prints them. If a worker dies, its test has failed, and another worker runs the rest.
"""

from __future__ import annotations

import atexit
import mmap
import os
import pickle
import select
import signal
import sys
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, NoReturn

import pytest

NUMBER = 4  # bytes of a number in a pipe or in shared memory
MOST_GROUPS = 65_536 // NUMBER  # a pipe has room for them
PATIENCE = 10  # seconds for a worker to end what it started


class Hooks:
    @pytest.hookspec(firstresult=True)
    def pytest_group_of_test(self, item):
        """The name of the tests that a worker runs together with this one."""


def pytest_addoption(parser):
    parser.addoption("--forks", type=int, default=0, help="run the tests in so many processes")


def pytest_addhooks(pluginmanager):
    pluginmanager.add_hookspecs(Hooks)


@pytest.hookimpl(trylast=True)
def pytest_group_of_test(item):
    return item.nodeid.partition("::")[0]


def pytest_runtestloop(session):
    option = session.config.option
    alone = option.collectonly or option.usepdb or option.trace
    if option.forks < 1 or alone or session.testsfailed or not session.items:
        return None
    pool = Pool(session)
    try:
        pool.run(option.forks)
    finally:
        pool.end()
    return True


class Pool:
    """The workers, and the groups of tests that none of them has begun."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        groups: dict[str, list[int]] = {}
        for place, item in enumerate(session.items):
            name = item.config.hook.pytest_group_of_test(item=item)
            groups.setdefault(name, []).append(place)
        self._groups = list(groups.values())
        assert len(self._groups) <= MOST_GROUPS
        self._rest = {
            place: group[n + 1 :] for group in self._groups for n, place in enumerate(group)
        }
        self._waiting, numbers = os.pipe()
        os.write(numbers, b"".join(n.to_bytes(NUMBER) for n in range(len(self._groups))))
        os.close(numbers)
        self._workers: dict[Connection, Worker] = {}
        self._begun = 0
        self._reported = 0
        session.config._tmp_path_factory.getbasetemp()  # a worker would empty the others' folder

    def run(self, count: int) -> None:
        """Let ``count`` workers run all groups."""
        for _ in range(min(count, len(self._groups))):
            self._begin([])
        session = self._session
        while self._workers:
            for connection in wait(list(self._workers)):
                messages = received(connection)
                if messages is None:
                    self._ended(self._workers.pop(connection))
                else:
                    self._reported += 1
                for name, given in messages or ():
                    self._workers[connection].tell(name, given)
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
                if session.shouldstop:
                    raise session.Interrupted(session.shouldstop)
        left = len(session.items) - self._reported
        assert left <= 0, f"{left} tests have not run: their workers ended before"

    def end(self) -> None:
        """End the workers that still run."""
        for worker in self._workers.values():
            worker.interrupt()
        for worker in self._workers.values():
            worker.status()
        os.close(self._waiting)

    def _begin(self, places: list[int]) -> None:
        """Fork a worker, for the tests at these places first."""
        here, there = Pipe(duplex=False)
        sys.stdout.flush()
        sys.stderr.flush()
        worker = Worker(self._session, self._begun)
        self._begun += 1
        worker.pid = os.fork()
        if worker.pid == 0:
            here.close()
            worker.work(self._tests(places), there)
        there.close()
        self._workers[here] = worker

    def _tests(self, places: list[int]) -> Iterator[int]:
        """The tests of a worker: a group is taken when the one before has begun its last test."""
        yield from places
        while number := os.read(self._waiting, NUMBER):
            yield from self._groups[int.from_bytes(number)]

    def _ended(self, worker: Worker) -> None:
        status = worker.status()
        if worker.at is None:
            return
        worker.fail(f"the worker ended with status {status}")
        self._reported += 1
        following = worker.following
        self._begin([] if following is None else [following, *self._rest[following]])


class Worker:
    """A process that runs tests."""

    def __init__(self, session: pytest.Session, number: int) -> None:
        self.pid = 0
        self._number = number
        self._session = session
        self._shared = mmap.mmap(-1, 2 * NUMBER)

    @property
    def at(self) -> int | None:
        """The place of the test that runs."""
        return self._place(0)

    @property
    def following(self) -> int | None:
        """The place of the test after it, whose group may be another one."""
        return self._place(NUMBER)

    def _place(self, start: int) -> int | None:
        number = int.from_bytes(self._shared[start : start + NUMBER])
        return number - 1 if number else None

    def _share(self, *places: int | None) -> None:
        numbers = (0 if place is None else place + 1 for place in places)
        self._shared[:] = b"".join(number.to_bytes(NUMBER) for number in numbers)

    # --- in the process that prints ---

    def tell(self, name: str, given: dict[str, Any]) -> None:
        """Call a hook with the arguments of the worker's own."""
        hook = getattr(self._session.config.hook, name)
        if name == "pytest_warning_recorded":
            hook.call_historic(kwargs=given)
            return
        config, report = self._session.config, given["report"]
        if isinstance(report, dict):
            report = config.hook.pytest_report_from_serializable(config=config, data=report)
        hook(report=report)

    def fail(self, why: str) -> None:
        """Report the test that runs as failed."""
        assert self.at is not None
        item = self._session.items[self.at]
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
        self.tell("pytest_runtest_logreport", {"report": report})

    def interrupt(self) -> None:
        os.kill(self.pid, signal.SIGINT)

    def status(self) -> int:
        """Its exit status. After PATIENCE it is killed."""
        ends = os.pidfd_open(self.pid)
        if not select.select([ends], [], [], PATIENCE)[0]:
            os.kill(self.pid, signal.SIGKILL)
        os.close(ends)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    # --- in its own process ---

    def work(self, places: Iterator[int], out: Connection) -> NoReturn:
        """Run the tests at these places, and end the process."""
        status = 1
        try:
            self._become(out)
            self._run(places)
            status = 0
        except KeyboardInterrupt:
            pass
        except BaseException:
            traceback.print_exc()
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C comes from the terminal and `end`
            self._session._setupstate.teardown_exact(None)  # after an interrupt
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)

    def _become(self, out: Connection) -> None:
        """Get output files and a temporary folder of its own, and send reports, not print them."""
        config = self._session.config
        config.option.maxfail = 0
        plugins = config.pluginmanager
        plugins.unregister(name="terminalreporter")
        self._outbox = Outbox(config, out)
        plugins.register(self._outbox)
        capture = plugins.getplugin("capturemanager")
        if capture.is_capturing():
            capture.stop_global_capturing()
            capture.start_global_capturing()
            capture.suspend_global_capture()
        folders = config._tmp_path_factory
        folders._basetemp = folders.mktemp(f"fork{self._number}", numbered=False)

    def _run(self, places: Iterator[int]) -> None:
        place = next(places, None)
        while place is not None:
            item = self._session.items[place]
            following = next(places, None)
            self._share(place, following)
            item.config.hook.pytest_runtest_protocol(
                item=item, nextitem=None if following is None else self._session.items[following]
            )
            self._outbox.send()
            place = following
        self._share(None, None)


def received(connection: Connection) -> list[Any] | None:
    """A worker's messages, None when it has ended."""
    try:
        messages: list[Any] = connection.recv()
    except (EOFError, OSError):  # before or within a message
        return None
    return messages


class Outbox:
    """Plugin of a worker: sends the reports and warnings of a test, all at once."""

    def __init__(self, config: pytest.Config, out: Connection) -> None:
        self._config = config
        self._out = out
        self._messages: list[tuple[str, dict[str, Any]]] = []

    def pytest_runtest_logreport(self, report):
        if not report.passed:  # it may hold objects that can't be sent
            config = self._config
            report = config.hook.pytest_report_to_serializable(config=config, report=report)
        self._messages.append(("pytest_runtest_logreport", {"report": report}))

    def pytest_warning_recorded(self, warning_message, when, nodeid, location):
        given = {
            "warning_message": warning_message,
            "when": when,
            "nodeid": nodeid,
            "location": location,
        }
        try:
            pickle.dumps(given)
        except Exception:
            warning_message.message = UserWarning(str(warning_message.message))
            warning_message.category = UserWarning
            warning_message.source = None
        self._messages.append(("pytest_warning_recorded", given))

    def send(self):
        self._out.send(self._messages)
        self._messages = []
