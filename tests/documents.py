#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the documents' examples, as TAP: tests/documents.py SOURCE_DIRECTORY

After the line "<!-- run -->" comes an indented block: a line that begins with "$ "
is a command, the lines up to the next one are what it prints, on both outputs. The
commands run in an empty folder with data/ in it. Links between the documents must
lead somewhere, too. TMATCH is the program.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1]).resolve()
program = pathlib.Path(os.environ["TMATCH"]).resolve()
documents = [source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").rglob("*.md"))]


def blocks(text):
    """The indented lines after each marker, without their indent."""
    for part in text.split("<!-- run -->")[1:]:
        lines = part.lstrip("\n").split("\n")
        end = next((i for i, line in enumerate(lines) if not line.startswith("    ")), len(lines))
        yield [line[4:] for line in lines[:end]]


def commands(lines):
    """(command, expected output) pairs."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append([line[2:], ""])
        else:
            found[-1][1] += line + "\n"
    return found


def run(command, folder):
    environment = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", LC_ALL="C")
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120).stdout


def anchors(document):
    """The names that a link may end with: headings, as code hosts make them."""
    headings = re.findall(r"^#+ +(.*)$", document.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def broken_links(document):
    for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield target


count = failures = 0


def report(name, complaint):
    global count, failures
    count += 1
    failures += bool(complaint)
    print(f"{'not ok' if complaint else 'ok'} {count} {name}")
    for line in complaint.splitlines():
        print("# " + line)


for document in documents:
    name = str(document.relative_to(source))
    report(f"links of {name}", "\n".join(broken_links(document)))
    for number, lines in enumerate(blocks(document.read_text()), 1):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(folder + "/bin")
            os.symlink(program, folder + "/bin/tmatch")
            os.symlink(source / "data", folder + "/data")
            complaint = ""
            for command, expected in commands(lines):
                printed = run(command, folder)
                if printed != expected:
                    complaint += f"$ {command}\n{printed}instead of\n{expected}"
        report(f"example {number} of {name}", complaint)
print(f"1..{count}")
sys.exit(failures > 0)
