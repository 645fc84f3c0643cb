#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds up the test cases of Meson build directories; fails if one failed or none ran.

    scripts/count-tests.py [--skipped REASON]... DIRECTORY...

Says why tests were skipped, grouped, and ends with "N passed, N failed, N skipped".
"""
import argparse
import collections
import glob
import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


def skip_reason(case):
    said = case.findtext("system-out") or ""
    whole = re.search(r"^1\.\.0 *# *SKIP\S* *(.*)", said, re.MULTILINE | re.IGNORECASE)
    if whole:
        said = whole.group(1)
    return said.strip().split("\n")[0] or "no reason was given"


parser = argparse.ArgumentParser()
parser.add_argument("--skipped", action="append", default=[], help="what was left out as a whole, and why")
parser.add_argument("directories", nargs="+")
arguments = parser.parse_args()

passed = 0
failed = []
skipped = collections.Counter(arguments.skipped)
for directory in arguments.directories:
    try:
        # Meson puts the name of a test setup into that of the log.
        logs = glob.glob(directory + "/meson-logs/testlog*.junit.xml")
        log = max(logs, key=os.path.getmtime, default="no log of tests")
        report = ElementTree.parse(log)
        with open(log.removesuffix(".junit.xml") + ".json") as lines:
            programs = [json.loads(line) for line in lines]
    except (OSError, ElementTree.ParseError) as error:
        failed.append(f"{directory}: no results: {error}")
        continue
    failing = set()
    for suite in report.iter("testsuite"):
        for case in suite.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(f"{directory}: {suite.get('name')}: {case.get('name')}")
                failing.add(suite.get("name").split(" / ")[-1])
            elif case.find("skipped") is not None:
                skipped[skip_reason(case)] += 1
            else:
                passed += 1
    # A program that crashed has tests that neither passed nor failed.
    for program in programs:
        name = program["name"].split(" / ")[-1]
        if program["result"] not in ("OK", "SKIP", "EXPECTEDFAIL") and name not in failing:
            failed.append(f"{directory}: {name}: {program['result'].lower()}, whatever its tests say")

if skipped:
    print("Skipped:")
    for reason, count in skipped.most_common():
        print(f"{count:6}  {reason}")
if failed:
    print("Failed:")
    for name in failed:
        print(f"        {name}")
print(f"{passed} passed, {len(failed)} failed, {sum(skipped.values())} skipped")
sys.exit(bool(failed) or passed == 0)
