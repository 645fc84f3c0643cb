# SPDX-License-Identifier: MIT
# The figures differ from run to run, the rows do not.
tmatch --bench --device cpu --threads 2 40,8 64x48,9x2 >table
echo "status $?"
sed -n 's/ *\(cpu, 2 threads\) .*/ \1/p' table
fail --bench 40,8 8,40
