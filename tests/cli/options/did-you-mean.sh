# SPDX-License-Identifier: MIT
# What an unknown option or choice says beside its name.
# By spelling.
fail --treshold=0.9 a b
fail --min_score 0.9 a b
fail --OUTPUT a b
fail --verb a b
fail --max a b
fail --maximal-number-of-the-pixels-of-any-frame a b
fail --frobnicate a b
fail --ma a b
fail --= a b
# By another name.
fail --gpu a b
fail --cpu a b
fail --json a b
fail --ccoeff_normed a b
fail --auto a b
fail --jobs 4 a b
fail --rotate 5 a b
# Letters, and long names with one dash, which begin with a letter that there is.
fail -N 5 a b
fail -vj4 a b
fail -x a b
fail '-?'
fail -format json a b
fail -output found.png a b
fail -recursiv a b
# Choices.
fail --format jsn a b
fail --format XLSX a b
fail --metric zncc a b
fail --metric TM_SQDIFF a b
fail --device gpu a b
fail --depth 32 a b
# An operand is none of these: it is looked for.
fail treshold a
