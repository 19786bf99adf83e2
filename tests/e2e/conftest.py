# SPDX-License-Identifier: Apache-2.0
"""Fixtures: a farm for each test, and one that a whole module shares."""
import sys

import pytest

import harness


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
