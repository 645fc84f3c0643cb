# SPDX-License-Identifier: MIT
# needs: libtiff
# A TIFF's pages are frames and templates; a damaged one is told by its first reason.
pages=$(dirname "$0")/pictures/pages.tif # beside lib.sh, which $0 is
cp "$pages" pages.tif
try -v 'pages.tif#2' 'pages.tif#2[7x6+9+5]' 2>&1 | grep -v ' on cpu'
try -q pages.tif 'pages.tif#3[7x6+2+3]'
fail -q 'pages.tif#4' 'pages.tif#1'
mkdir folder
cp pages.tif folder/b.TIFF
try -q -t 'pages.tif#1[9x9+0+0]' folder
head -c 700 pages.tif >cut.tif
try -q -t 'pages.tif#1[9x9+0+0]' cut.tif 2>&1
printf 'II*\0\10\0\0\0' >header.tif
fail header.tif 'pages.tif#1'
echo "# on standard input: a file's pages are frames as well, and of a pipe's the first, which is said"
try -q - 'pages.tif#3[7x6+2+3]' <pages.tif
cat pages.tif | try - 'pages.tif#1[7x6+2+3]' 2>&1
cat pages.tif | try 'pages.tif#1' - 2>&1
