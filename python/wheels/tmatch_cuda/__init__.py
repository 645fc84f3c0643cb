# SPDX-License-Identifier: MIT
"""The CUDA backend of tmatch, which finds it beside itself; there is nothing to import here.

tmatch.cuda_backend() names it, and tmatch.devices() lists the GPUs. Where packages do not lie in one folder,
TMATCH_PLUGIN_DIR may name this one.
"""
