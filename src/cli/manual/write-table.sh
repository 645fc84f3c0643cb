#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes a document's table of options anew. Arguments: the generator, the document.
set -eu
"$1" table "$2" >"$2.new"
mv "$2.new" "$2"
