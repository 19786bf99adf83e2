# SPDX-License-Identifier: Apache-2.0
"""Fixtures: a farm for each test, and one that a whole module shares."""
import signal
import sys

import pytest

import harness


def pytest_configure():
    """meson ends a test that takes too long with SIGTERM: as Ctrl-C, so that fixtures end what they started."""
    def interrupted(*_):
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # once: the cleaning up is not interrupted
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)


@pytest.hookimpl(tryfirst=True, hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    if outcome.get_result().failed:
        item.session.last_failed_item = item.nodeid


def logs(farm):
    for p in farm.processes:
        tail = p.output()[-1500:] if p.log.exists() else ""
        if tail and "redis-server" not in p.argv[0]:
            print(f"--- {' '.join(p.argv)} ({p.child.poll()})\n{tail}", file=sys.stderr)


@pytest.fixture
def farm(request):
    f = harness.Farm()
    yield f
    if getattr(request.session, "last_failed_item", None) == request.node.nodeid:
        logs(f)
    f.close()


@pytest.fixture(scope="module")
def shared_farm():
    f = harness.Farm()
    yield f
    f.close()
