#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests beside it by pytest, as TAP: tests/python/run.py [--not-built | PYTEST'S ARGUMENTS]

The module is found as Python finds it: PYTHONPATH=build/python, or installed. TMATCH_TEST_PACKAGES names a
folder of packages that are wanted by tests and not on this system, which goes before the system's.
"""

import os
import sys


class Tap:
    def __init__(self):
        self.count = self.failures = 0
        self.complaints = []

    def report(self, good, name, more=""):
        self.count += 1
        self.failures += not good
        print(f"{'ok' if good else 'not ok'} {self.count} {name}{more}", flush=True)

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.replace("#", "")
        if report.skipped:
            self.report(True, name, f" # SKIP {report.longrepr[2].removeprefix('Skipped: ')}")
        elif report.failed or report.when == "call":
            self.report(report.passed, name)
            if report.failed:
                print("# " + report.longreprtext.replace("\n", "\n# "))

    def pytest_collectreport(self, report):
        if report.failed:
            self.report(False, report.nodeid or "collection")
            print("# " + report.longreprtext.replace("\n", "\n# "))
        elif report.skipped:
            self.report(True, report.nodeid, f" # SKIP {report.longrepr[2].removeprefix('Skipped: ')}")


def main():
    if sys.argv[1:] == ["--not-built"]:
        print(
            "1..0 # SKIP the Python module needs Python 3.11 with its headers, libpng and libjpeg, and no sanitizer"
        )
        sys.exit(0)
    sys.path[1:1] = filter(None, [os.environ.get("TMATCH_TEST_PACKAGES")])
    try:
        import numpy  # noqa: F401
        import pytest
    except ModuleNotFoundError as missing:
        print(f"1..0 # SKIP {missing.name} is not installed for {os.path.basename(sys.executable)}")
        sys.exit(0)
    tap = Tap()
    folder = os.path.dirname(os.path.abspath(__file__))
    arguments = sys.argv[1:] or [folder]
    pytest.main(
        ["-p", "no:terminalreporter", "-p", "no:cacheprovider", f"--rootdir={folder}", *arguments], plugins=[tap]
    )
    print(f"1..{tap.count}")
    sys.exit(tap.failures > 0 or tap.count == 0)


if __name__ == "__main__":  # not in the processes that tests start
    main()
