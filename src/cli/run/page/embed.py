#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the report page's source a C header: what comes before the data, and after.

    embed.py page.html page.css page_text.h SCRIPT.js...
"""
import base64
import hashlib
import pathlib
import sys

html, css = (pathlib.Path(name).read_text() for name in sys.argv[1:3])
js = "\n".join(pathlib.Path(name).read_text() for name in sys.argv[4:])


def digest(text):
    """What a Content-Security-Policy calls an element of this text."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


# The elements are the files, with the newline after the start tag.
page = html.replace("@CSS-HASH@", digest("\n" + css)).replace("@JS-HASH@", digest("\n" + js))
page = page.replace("@CSS@\n", css).replace("@JS@\n", js)
assert "</script" not in js and "</style" not in css
with open(sys.argv[3], "w") as out:
    for name, part in zip(("page_head", "page_tail"), page.split("@DATA@\n")):
        out.write(f"static const unsigned char {name}[] = {{")
        for i, byte in enumerate(part.encode()):
            out.write(("\n" if i % 24 == 0 else "") + f"{byte},")
        out.write("};\n")
