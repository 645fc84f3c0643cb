# SPDX-License-Identifier: MIT
"""Reads what tmatch-bench and peers.py wrote, for tables.py and plot.py."""

import csv
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results")
TABLES = os.path.join(HERE, "thesis", "tables.csv")


# The suites that tables and plots are made of.
SUITES = {"targets", "peers", "large", "crossing", "thesis", "grid", "grid-pinned", "sizes"}


def has_tables(document):
    return (isinstance(document, dict) and "schema" in document and
            any(row.get("suite") in SUITES for row in document["results"]))


def load(paths=None):
    """The documents, by file name. A peers' document inside another is unpacked. Of the
    folder, those that no table is made of are left out."""
    everything = not paths
    if everything:
        names = sorted(os.listdir(RESULTS)) if os.path.isdir(RESULTS) else []
        paths = [os.path.join(RESULTS, name) for name in names if name.endswith(".json")]
    documents = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if everything and not has_tables(document):
            continue
        if document.get("schema") != 1:
            raise SystemExit("%s: not of schema 1" % path)
        peers = document.pop("peers", None)
        if peers:
            document["results"] += peers["results"]
            document["missing"] += peers["missing"]
        documents[os.path.basename(path)] = document
    return documents


def rows(documents, **wanted):
    """All result rows whose fields have the wanted values."""
    return [row for document in documents.values() for row in document["results"]
            if all(row.get(key) == value for key, value in wanted.items())]


def median(row, key="kernel_ms"):
    return row[key]["median"] if row and row.get("status") == "ok" and key in row else None


def operations(row):
    """By the thesis's count: 5n + 5 an outcome element for LCC, 2n for correlation."""
    n = row["template"][0] * row["template"][1]
    return row["map"][0] * row["map"][1] * (5 * n + 5 if row["metric"] == "lcc" else 2 * n)


def gflops(row, ms):
    return operations(row) / ms / 1e6


def on_gpu(row):
    return row.get("device", "").startswith("cuda")


def thesis_rows():
    """The thesis's own figures, numbers as floats, its two slips corrected."""
    with open(TABLES, newline="", encoding="utf-8") as file:
        out = []
        for row in csv.DictReader(file):
            for key in ("kernel_ms", "cpu_ms"):
                if row[key + "_corrected"]:
                    row[key] = row[key + "_corrected"]
            for key in row:
                if key not in ("algorithm", "note") and not key.endswith("corrected"):
                    row[key] = float(row[key])
            row["metric"] = "lcc" if row["algorithm"] == "lcc" else "ccorr"
            out.append(row)
    return out


def gpu_name(documents):
    for document in documents.values():
        for gpu in document.get("machine", {}).get("gpus", []):
            return gpu["name"]
    return None
