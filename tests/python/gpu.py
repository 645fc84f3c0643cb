# SPDX-License-Identifier: MIT
"""Stand-ins for arrays of CuPy and PyTorch, in the memory of the device that tests/emulated emulates.

The host cannot touch that memory, and copies to it are done when their stream gets there: whoever reads
it otherwise crashes, or finds other samples.
"""

from __future__ import annotations

import ctypes
import os

import numpy as np

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


class Gpu:
    def __init__(self, folder: str):
        self.library = ctypes.CDLL(os.path.join(folder, "libtmatch-cuda.so"))
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self.library.em_cudaMemcpyAsync.argtypes = [pointer, pointer, size, ctypes.c_int, pointer]
        self.library.em_cudaMalloc.argtypes = [ctypes.POINTER(pointer), size]
        self.library.em_cudaStreamCreate.argtypes = [ctypes.POINTER(pointer)]
        for name in ("em_cudaFree", "em_cudaStreamSynchronize"):
            getattr(self.library, name).argtypes = [pointer]

    def call(self, name, *arguments):
        assert getattr(self.library, "em_" + name)(*arguments) == 0, name

    def stream(self, device=0):
        self.call("cudaSetDevice", device)
        stream = ctypes.c_void_p()
        self.call("cudaStreamCreate", ctypes.byref(stream))
        return stream.value

    def alloc(self, size, device=0):
        self.call("cudaSetDevice", device)
        memory = ctypes.c_void_p()
        self.call("cudaMalloc", ctypes.byref(memory), size)
        return memory.value

    def get(self, interface):
        """A copy of what a packed array's interface describes."""
        a = np.empty(interface["shape"], np.dtype(interface["typestr"]))
        self.call("cudaMemcpyAsync", a.ctypes.data, interface["data"][0], a.nbytes, DEVICE_TO_HOST, 1)
        return a


class Memory:
    """An array's samples on the device, where they arrive when the stream has come to it."""

    def __init__(self, gpu: Gpu, a: np.ndarray, stream=None, device=0):
        whole = a
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        whole = whole if whole.flags.forc else a.copy()
        self.gpu, self.stream, self.device = gpu, stream or gpu.stream(device), device
        self.data = gpu.alloc(max(whole.nbytes, 1), device)
        gpu.call("cudaMemcpyAsync", self.data, whole.ctypes.data, whole.nbytes, HOST_TO_DEVICE, self.stream)
        view = a if np.shares_memory(whole, a) else whole
        self.shape, self.strides, self.dtype = view.shape, view.strides, view.dtype
        self.address = self.data + view.ctypes.data - whole.ctypes.data

    def __del__(self):
        self.gpu.call("cudaFree", self.data)


class CudaArray(Memory):
    """As CuPy's, but that it has no DLPack."""

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "version": 3,
            "strides": self.strides,
            "stream": self.stream,
        }


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class DLPackArray(Memory):
    """As PyTorch's, but that it has no __cuda_array_interface__."""

    def __dlpack_device__(self):
        return (2, self.device)

    def __dlpack__(self, *, stream=None, max_version=None):
        assert stream == 1, "the samples are wanted on the default stream"
        self.gpu.call("cudaStreamSynchronize", self.stream)
        sizes = ctypes.c_int64 * len(self.shape)
        self.kept = m = _Managed()
        m.tensor.data, m.tensor.byte_offset = self.data, self.address - self.data
        m.tensor.device_type, m.tensor.device_id = self.__dlpack_device__()
        m.tensor.ndim = len(self.shape)
        m.tensor.code = {"u": 1, "f": 2, "b": 6}[self.dtype.kind]
        m.tensor.bits, m.tensor.lanes = 8 * self.dtype.itemsize, 1
        m.tensor.shape = sizes(*self.shape)
        m.tensor.strides = sizes(*(s // self.dtype.itemsize for s in self.strides))
        return _new_capsule(ctypes.addressof(m), b"dltensor", None)
