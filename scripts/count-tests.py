#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds up the test cases of Meson build directories; fails if none ran."""
import sys
import xml.etree.ElementTree as ElementTree

passed = failed = skipped = 0
for directory in sys.argv[1:]:
    report = ElementTree.parse(directory + "/meson-logs/testlog.junit.xml")
    for case in report.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0 or passed == 0)
