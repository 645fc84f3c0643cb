# SPDX-License-Identifier: MIT
"""Which arrays are taken, by which protocol, and that nothing is left behind of those that are not."""

import array
import ctypes
import pathlib
import re
import sys

import numpy as np
import pytest
import tmatch
from tmatch import _functions


def views(a):
    """The same picture as it may lie in memory."""
    wide = np.zeros((a.shape[0] * 2, a.shape[1] * 3, *a.shape[2:]), a.dtype)
    wide[::2, ::3] = a
    yield "as it is", a
    yield "read-only", np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape)
    yield "every third column", wide[::2, ::3]
    yield "upside down", a[::-1].copy()[::-1]
    yield "mirrored", a[:, ::-1].copy()[:, ::-1]
    yield "by columns", np.asfortranarray(a)
    padded = np.zeros((a.shape[0], a.shape[1] + 5, *a.shape[2:]), a.dtype)
    padded[:, : a.shape[1]] = a
    yield "padded rows", padded[:, : a.shape[1]]
    raw = np.zeros(a.nbytes + 1, np.uint8)
    raw[1:] = np.frombuffer(a.tobytes(), np.uint8)
    yield "unaligned", raw[1:].view(a.dtype).reshape(a.shape)
    if a.ndim == 3:
        yield "planes", np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 2, 0)), 0, 2)
        yield "channels reversed twice", a[..., ::-1].copy()[..., ::-1]
    yield "memoryview", memoryview(np.ascontiguousarray(a))


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [(), (1,), (3,), (4,)])
def test_layouts(rng, kind, channels):
    frame = rng.integers(0, 256, (20, 30, *channels)).astype(kind)
    template = frame[5:12, 8:14].copy()
    expected = np.asarray(tmatch.score_map(frame, template))
    for (name, f), (_, t) in zip(views(frame), views(template)):
        assert np.array_equal(np.asarray(tmatch.score_map(f, t)), expected), name


def test_layouts_of_masks(scene, rng):
    frame, template = scene
    mask = rng.integers(0, 2, template.shape).astype(bool)
    over = rng.integers(0, 50, frame.shape) > 0
    expected = np.asarray(tmatch.score_map(frame, template, mask=mask, frame_mask=over))
    for (name, m), (_, o) in zip(views(mask), views(over)):
        assert np.array_equal(np.asarray(tmatch.score_map(frame, template, mask=m, frame_mask=o)), expected), (
            name
        )
    assert np.array_equal(
        np.asarray(tmatch.score_map(frame, template, mask=mask * np.uint8(7), frame_mask=over)), expected
    )


def test_single_rows_and_broadcasts():
    row = np.arange(30, dtype=np.uint8)[None]
    assert tmatch.match(np.broadcast_to(row, (5, 30)), row[:, 3:9])[0].score == 1
    assert tmatch.match(row, row[:, 3:9])[0].box == (0, 0, 6, 1)  # any part of a ramp is a copy
    assert tmatch.match(row.T, row.T[3:9])[0].score == 1


@pytest.mark.parametrize("kind", [ctypes.c_uint8, ctypes.c_uint16, ctypes.c_float])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_ctypes(rng, kind, channels):
    """Their buffers have no strides."""
    frame = rng.integers(0, 256, (20, 30, *channels)).astype(kind)
    arrays = [frame, frame[5:12, 8:14]]
    expected = tmatch.match(*arrays)
    assert tmatch.match(*map(np.ctypeslib.as_ctypes, map(np.ascontiguousarray, arrays))) == expected


class DLPackOnly:
    """An array of another library, which can nothing but DLPack, perhaps the old one."""

    def __init__(self, a, old=False, device=(1, 0)):
        self.a, self.old, self.device = a, old, device
        self.calls = []

    def __dlpack__(self, **arguments):
        self.calls.append(arguments)
        if self.old and arguments:
            raise TypeError("unexpected argument")
        try:
            return self.a.__dlpack__(**arguments)
        except TypeError:
            return self.a.__dlpack__()

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("old", [False, True])
def test_dlpack(scene, old):
    frame, template = scene
    expected = tmatch.match(frame, template)
    for a in (frame, np.asfortranarray(frame), frame[::-1].copy()[::-1]):
        wrapped = DLPackOnly(a, old)
        before = sys.getrefcount(a)
        assert tmatch.match(wrapped, DLPackOnly(template, old)) == expected
        assert sys.getrefcount(a) == before
        assert wrapped.calls[0] == {"max_version": (1, 0)}
    picture = tmatch.score_map(frame, template)
    assert tmatch.match(DLPackOnly(picture), np.asarray(picture)[3:9, 3:9].copy())[0].box == (3, 3, 6, 6)


def test_capsules_of_a_map(scene):
    scores = tmatch.score_map(*scene)
    before = sys.getrefcount(scores)
    for version, name in (
        (None, "dltensor"),
        ((0, 8), "dltensor"),
        ((1, 0), "dltensor_versioned"),
        ((2, 1), "dltensor_versioned"),
    ):
        capsule = scores.__dlpack__(max_version=version)
        assert f'"{name}"' in repr(capsule)
        assert sys.getrefcount(scores) == before + 1
        del capsule
        assert sys.getrefcount(scores) == before, "a capsule that nobody takes gives the array back"
    taken = np.from_dlpack(scores)
    del taken
    assert sys.getrefcount(scores) == before
    for wrong in ({"dl_device": (2, 0)}, {"copy": True}):
        with pytest.raises(BufferError):
            scores.__dlpack__(**wrong)
    with pytest.raises(TypeError):
        scores.__dlpack__(max_version=3)


class InterfaceOnly:
    def __init__(self, **interface):
        self.__array_interface__ = interface


def test_array_interface(scene):
    frame, template = scene
    expected = tmatch.match(frame, template)
    by_bytes = InterfaceOnly(version=3, shape=frame.shape, typestr="|u1", data=frame.tobytes())
    by_address = InterfaceOnly(**frame[:, ::-1].copy()[:, ::-1].__array_interface__)
    by_offset = InterfaceOnly(
        version=3, shape=frame.shape, typestr="|u1", data=b"12345" + frame.tobytes(), offset=5, mask=None
    )
    for f in (by_bytes, by_offset, InterfaceOnly(**frame.__array_interface__)):
        assert tmatch.match(f, template) == expected
    assert by_address.__array_interface__["strides"] == (64, -1)
    for broken in (
        InterfaceOnly(version=3, shape=(480, 640), typestr="|u1", data=frame.tobytes()),
        InterfaceOnly(version=3, shape=(2**31 - 1, 2**31 - 1, 4), typestr="<f4", data=frame.tobytes()),
        InterfaceOnly(version=3, shape=(48, "64"), typestr="|u1", data=frame.tobytes()),
        InterfaceOnly(version=3, shape=frame.shape, strides=(64, 1), typestr="|u1", data=frame.tobytes()),
        InterfaceOnly(version=3, shape=frame.shape, typestr="|u1", data=frame.tobytes(), offset=1),
        InterfaceOnly(version=3, shape=frame.shape, typestr="|u1", data=frame.tobytes(), offset=-1),
        InterfaceOnly(version=3, shape=frame.shape, typestr="|u1", data=frame.tobytes(), offset=2**63 - 1),
        InterfaceOnly(version=3, shape=frame.shape, typestr="|u1", data=frame.tobytes(), offset="1"),
        InterfaceOnly(version=3, shape="no", typestr="|u1", data=frame.tobytes()),
        InterfaceOnly(version=3, shape=frame.shape, data=frame.tobytes()),
        InterfaceOnly(version=3, shape=frame.shape, typestr="|u1"),
        InterfaceOnly(),
    ):
        with pytest.raises((TypeError, ValueError)):
            tmatch.match(broken, template)


def test_more_than_all_memory():
    one, huge = np.ones(1, np.float32), 2**31 - 1
    for shape, strides in (((huge, huge), (0, 0)), ((huge, huge, 4), (0, 0, 0))):
        array = InterfaceOnly(
            version=3, shape=shape, strides=strides, typestr="<f4", data=(one.ctypes.data, True)
        )
        with pytest.raises(MemoryError):
            tmatch.match(array, np.eye(3, dtype=np.float32))


def test_pillow(data):
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    with Image.open(data / "astronaut.png") as opened:
        picture = opened.convert("L")
        expected = tmatch.match(np.asarray(picture), np.asarray(picture)[50:80, 60:100])
        assert tmatch.match(picture, picture.crop((60, 50, 100, 80))) == expected
        color = opened.convert("RGB")
        assert tmatch.match(color, color.crop((60, 50, 100, 80)))[0].box == (60, 50, 40, 30)
        mask = Image.new("1", (40, 30), 1)
        assert tmatch.match(picture, picture.crop((60, 50, 100, 80)), mask=mask)[0].score == 1
        with pytest.raises(ValueError, match=r"the frame has a palette: .*convert"):
            tmatch.match(color.convert("P"), color)
        for mode, remedy in {"1": "convert('L')", "I": "convert('F')", "I;16B": "convert('I').convert('F')"}.items():
            wrong = picture.convert("I").convert(mode) if ";" in mode else picture.convert(mode)
            with pytest.raises(TypeError, match=f"the frame is a Pillow image of mode '{mode}': .{re.escape(remedy)} makes"):
                tmatch.match(wrong, picture)
            cured = eval(f"wrong.{remedy}")
            assert tmatch.match(cured, cured.crop((60, 50, 100, 80)))[0].box == (60, 50, 40, 30)
        read = tmatch.read(data / "astronaut.png", color=True)
        assert np.array_equal(np.asarray(Image.fromarray(read)), np.asarray(color))


def test_torch(scene):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    frame, template = map(torch.from_numpy, scene)
    assert tmatch.match(frame, template) == tmatch.match(*scene)
    scores = torch.from_dlpack(tmatch.score_map(frame, template))
    assert float(scores.max()) == 1


GOOD = np.arange(400, dtype=np.uint8).reshape(20, 20)
REFUSED = [
    ([[1, 2], [3, 4]], TypeError, "of type list, not an array"),
    ("frame.png", TypeError, r"a str, not an array: tmatch.read\('frame.png'\)"),
    (pathlib.Path("frame.png"), TypeError, r"a PosixPath, not an array: tmatch.read\(PosixPath\('frame.png'\)\)"),
    (None, TypeError, "NoneType"),
    (GOOD.astype(np.float64), TypeError, "samples of float64, not "),
    (GOOD.astype(np.float16), TypeError, "samples of float16"),
    (GOOD.astype(np.int8), TypeError, "samples of int8"),
    (GOOD.astype(np.int64), TypeError, "samples of int64"),
    (GOOD.astype(np.uint32), TypeError, "samples of uint32"),
    (GOOD.astype(np.complex64), TypeError, "samples of complex64"),
    (GOOD.astype(bool), TypeError, "samples of bool"),
    (GOOD.astype(">u2"), TypeError, "byte-swapped uint16"),
    (GOOD.astype("O"), TypeError, "samples of"),
    (GOOD.astype("M8[s]"), TypeError, "samples of datetime64, not "),
    (GOOD.astype("m8[s]"), TypeError, "samples of timedelta64, not "),
    (GOOD.astype([("r", "u1"), ("g", "u1")]), TypeError, "samples of"),
    (GOOD[0], ValueError, r"shape \(20,\)"),
    (GOOD.reshape(1, 20, 20, 1), ValueError, r"shape \(1, 20, 20, 1\)"),
    (GOOD.reshape(4, 5, 20), ValueError, r"shape \(4, 5, 20\)"),
    (np.uint8(3), ValueError, r"shape \(\)"),
    (GOOD[:0], ValueError, r"shape \(0, 20\)"),
    (GOOD[:, :0], ValueError, r"shape \(20, 0\)"),
    ((ctypes.c_uint8 * 20)(), ValueError, r"shape \(20,\)"),
    (InterfaceOnly(**GOOD.__array_interface__, mask=GOOD), TypeError, "has a mask, which would not count"),
    (np.ma.MaskedArray(GOOD), TypeError, r"is a masked array.* its \.data, and ~numpy\.ma\.getmaskarray"),
    (np.ma.MaskedArray(GOOD, GOOD > 9), TypeError, "is a masked array"),
    (b"bytes", ValueError, r"shape \(5,\)"),
    (array.array("d", [1, 2]), ValueError, r"shape \(2,\)"),
    (DLPackOnly(GOOD, device=(2, 0)), TypeError, r"GPU's memory.*\.cpu\(\)"),
    (DLPackOnly(GOOD, device=(10, 1)), TypeError, "GPU's memory"),
    (DLPackOnly(GOOD, device=None), TypeError, "__dlpack_device__"),
    (DLPackOnly(GOOD.astype(np.float64)), TypeError, "samples of float64"),
    (DLPackOnly(np.zeros((2, 3, 4, 5), np.uint8)), ValueError, "shape"),
]


@pytest.mark.parametrize(
    "kind, remedy",
    {
        "bool": "; .astype('uint8') makes it a picture",
        "float64": "; .astype('float32') converts them",
        ">f4": "; .astype('float32') converts them",
        ">u2": "; .astype('uint16') converts them",
        "int8": "; .astype('float32') keeps their values",
        "int16": "; .astype('float32') keeps their values",
        "int32": "; .astype('float32') keeps their values up to 16777216",
        "int64": "; .astype('float32') keeps their values up to 16777216",
        "uint32": "; .astype('float32') keeps their values up to 16777216",
        "uint64": "; .astype('float32') keeps their values up to 16777216",
        "complex64": "",
    }.items(),
)
def test_remedies(kind, remedy):
    wrong = GOOD.astype(kind)
    with pytest.raises(TypeError, match=f"not uint8, uint16 or float32{re.escape(remedy)}$"):
        tmatch.match(wrong, wrong[:6, :8])
    if remedy:
        cured = eval(f"wrong{remedy.split()[1]}")
        assert np.array_equal(cured, wrong)
        tmatch.match(cured, cured[:6, :8])


def test_released_buffer():
    view = memoryview(GOOD)
    view.release()
    with pytest.raises(ValueError, match="released"):
        tmatch.match(view, GOOD[3:9, 4:12])


class Cuda:
    __cuda_array_interface__ = {"shape": (4, 4)}


@pytest.mark.parametrize(
    "place", ["frame", "template", "template 0", "mask of the template", "mask of the frame"]
)
def test_refused(place, monkeypatch):
    """Each array is refused by name wherever it stands, and no reference to any argument is kept."""
    monkeypatch.setenv("TMATCH_PLUGIN_DIR", "/nowhere")  # where there is a GPU, its arrays are taken
    monkeypatch.setattr(_functions, "_idle", {})
    template, frame = GOOD[:5, :5].copy(), GOOD.copy()
    for wrong, kind, message in [*REFUSED, (Cuda(), TypeError, "GPU's memory")]:
        if wrong is None and "mask" in place:
            continue
        if place.startswith("mask") and isinstance(wrong, np.ndarray) and wrong.dtype == bool:
            continue
        arguments = {
            "frame": lambda: tmatch.match(wrong, template),
            "template": lambda: tmatch.match(frame, wrong),
            "template 0": lambda: tmatch.match(frame, [wrong, template]),
            "mask of the template": lambda: tmatch.match(frame, template, mask=wrong),
            "mask of the frame": lambda: tmatch.match(frame, template, frame_mask=wrong),
        }
        if place == "template" and isinstance(wrong, list):
            continue
        # Others count references to None and to a string that is in the source.
        inner = template if wrong is None or isinstance(wrong, str) else getattr(wrong, "a", wrong)
        before = [sys.getrefcount(o) for o in (inner, template, frame)]
        for _ in range(3):
            with pytest.raises(kind, match=message) as error:
                arguments[place]()
            assert place in str(error.value)
            del error
        assert [sys.getrefcount(o) for o in (inner, template, frame)] == before, wrong


def test_wrong_masks(scene):
    frame, template = scene
    for name, mask, kind, message in [
        ("mask", np.ones((3, 4), bool), ValueError, r"mask of the template must have its shape, \(8, 10\)"),
        ("mask", np.ones((8, 10, 1), bool), ValueError, "its shape"),
        ("mask", np.ones((8, 10), np.uint16), TypeError, "uint16, not bool or uint8"),
        ("mask", np.ones((8, 10), np.float32), TypeError, "float32, not bool or uint8"),
        ("mask", np.ones((8, 10)), TypeError, "float64, not bool or uint8"),
        ("frame_mask", np.ones((48, 64), int), TypeError, "mask of the frame has .*int64, not bool or uint8"),
        ("frame_mask", np.ones((3, 4), bool), ValueError, r"mask of the frame must have its shape, \(48, 64\)"),
    ]:
        before = [sys.getrefcount(o) for o in (frame, template, mask)]
        with pytest.raises(kind, match=message):
            tmatch.match(frame, template, **{name: mask})
        assert [sys.getrefcount(o) for o in (frame, template, mask)] == before


def test_buffers_are_released(scene):
    """A bytearray cannot be resized while a buffer on it is held."""
    frame, template = scene
    memory = bytearray(frame.tobytes())
    view = memoryview(memory).cast("B", frame.shape)
    tmatch.match(view, template)
    with pytest.raises(ValueError):
        tmatch.match(view, np.zeros((100, 100), np.uint8))
    with pytest.raises(ValueError):
        tmatch.match(view, template, region=(60, 40, 30, 30))
    view.release()
    memory.append(1)


def test_error_of_a_protocol(scene):
    class Broken:
        def __dlpack_device__(self):
            raise RuntimeError("no device today")

    class NoCapsule(Broken):
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **arguments):
            return 3

    with pytest.raises(RuntimeError, match="no device today"):
        tmatch.match(Broken(), scene[1])
    with pytest.raises(ValueError):
        tmatch.match(NoCapsule(), scene[1])
