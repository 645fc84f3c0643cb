# SPDX-License-Identifier: MIT
"""Pictures in files, drawings and the batch."""

import doctest
import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
import tmatch
from tmatch._read import picture_size


def test_read(data):
    gray, color = (
        tmatch.read(data / "astronaut.png"),
        tmatch.read(os.fspath(data / "astronaut.png"), color=True),
    )
    assert (gray.shape, gray.dtype, gray.format, gray.mask) == ((512, 512), "uint8", "PNG", None)
    assert color.shape == (512, 512, 3) and repr(gray) == "<tmatch.Picture (512, 512) of uint8>"
    r, g, b = (np.asarray(color)[..., i].astype(float) for i in range(3))
    assert np.abs(0.299 * r + 0.587 * g + 0.114 * b - np.asarray(gray)).max() < 1.5
    assert tmatch.read(data / "patch.jpg").format == "JPEG"
    with pytest.raises(FileNotFoundError):
        tmatch.read(data / "none.png")
    with pytest.raises(IsADirectoryError):
        tmatch.read(data)
    with pytest.raises(tmatch.InputError, match="astronaut.png: .*page 3") as error:
        tmatch.read(data / "astronaut.png", page=3)
    assert error.value.status == "PICTURE"


def test_names_in_messages_are_visible(tmp_path):
    names = {"a\x1b[31m.png": r"a\x1b[31m.png", "b\u009b\n.png": r"b\x9b\n.png", "c\udc9b é.png": r"c\udc9b é.png"}
    for name, shown in names.items():
        (tmp_path / name).write_bytes(b"no picture")
        with pytest.raises(tmatch.InputError) as error:
            tmatch.read(tmp_path / name)
        assert str(error.value).startswith(f"{tmp_path}/{shown}: ")
        with pytest.raises(tmatch.InputError) as error:
            tmatch.read(os.fsencode(tmp_path / name))
        assert str(error.value).startswith(f"{tmp_path}/{shown}: ")
        with pytest.raises(tmatch.InputError) as error:
            tmatch.write(tmp_path / "none" / name, np.zeros((2, 2), np.uint8))
        assert str(error.value).startswith(f"{tmp_path}/none/{shown}: ")


def test_read_damaged(data, tmp_path):
    whole = (data / "astronaut.png").read_bytes()
    for size in (0, 1, 9, 100, len(whole) // 2):
        (tmp_path / "cut.png").write_bytes(whole[:size])
        with pytest.raises(tmatch.InputError, match="cut.png: "):
            tmatch.read(tmp_path / "cut.png")


def write_pgm(path, array):
    """As P5, or P6 where there are three channels."""
    height, width = array.shape[:2]
    header = f"P{5 if array.ndim == 2 else 6} {width} {height} {np.iinfo(array.dtype).max}\n"
    path.write_bytes(header.encode() + array.astype(array.dtype.newbyteorder(">")).tobytes())


def reads(library):
    """Whether this build has it."""
    return library in subprocess.run([sys.executable, "-m", "tmatch", "--version"], capture_output=True, text=True).stdout


def need_sandbox(data):
    try:
        tmatch.read(data / "button.png", sandbox=True)
    except tmatch.Error as error:
        pytest.skip(f"there is no sandbox: {error}")


def files_of_all_kinds(folder, rng):
    """Pictures with and without colour, transparency and 16 bits, as far as Pillow is there to write them."""
    gray, color = (rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((90, 70), (90, 70, 3)))
    for name, array in {"gray": gray, "color": color, "deep": gray.astype(np.uint16) * 200}.items():
        tmatch.write(folder / f"{name}.png", array)
        write_pgm(folder / f"{name}.pnm", array)
        np.save(folder / f"{name}.npy", array)
    tmatch.write(folder / "color.jpg", color)
    np.savetxt(folder / "gray.txt", gray, "%d")
    try:
        from PIL import Image
    except ImportError:
        return sorted(folder.iterdir())
    alpha = np.dstack([color, gray])
    for name, array in {"gray": gray, "color": color, "alpha": alpha}.items():
        for ending, library in {"bmp": "", "png": "", "tif": "libtiff", "webp": "libwebp"}.items():
            if not reads(library):
                continue
            Image.fromarray(array).save(folder / f"{name}-pil.{ending}")
    if reads("libtiff"):
        Image.fromarray(color).save(folder / "strips.tif", compression="tiff_lzw", tiffinfo={278: 7})
        Image.fromarray(color).save(folder / "turned.tif", tiffinfo={274: 6})
    Image.fromarray(gray).save(folder / "progressive.jpg", progressive=True)
    return sorted(folder.iterdir())


def test_pipes_and_devices(data, tmp_path, monkeypatch):
    """No more is read of them than there is room for, and rows only of files, which can be read twice."""
    monkeypatch.setattr(tmatch._read, "most_piped", lambda: 1 << 20)
    with pytest.raises(tmatch.InputError, match="^/dev/zero: more than 1 MiB, half of this machine's memory"):
        tmatch.read("/dev/zero")
    for read in (tmatch.read, tmatch._read.picture_size):
        kwargs = {"rows": (0, 5)} if read is tmatch.read else {}
        with pytest.raises(tmatch.InputError, match="^/dev/null: a pipe or a device, of which no rows are read"):
            read("/dev/null", **kwargs)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with open(data / "button.png", "rb") as file, subprocess.Popen(["cp", "/dev/stdin", pipe], stdin=file):
        assert bytes(tmatch.read(pipe)) == bytes(tmatch.read(data / "button.png"))
    with open(data / "button.png", "rb") as file, subprocess.Popen(["cp", "/dev/stdin", pipe], stdin=file):
        (result,) = tmatch.files([pipe], data / "button.png", progress=False)
        assert result.error is None and result.matches[0].score == 1
    for path in (0, True, None):
        for kwargs in ({}, {"rows": (0, 5)}):
            with pytest.raises(TypeError):
                tmatch.read(path, **kwargs)
    os.fstat(0)  # is still open


def test_read_rows(tmp_path, rng):
    """The same samples and mask as of the whole picture."""
    for path in files_of_all_kinds(tmp_path, rng):
        for options in ({}, {"color": True}, {"stored_orientation": True}):
            whole = tmatch.read(path, **options)
            height = whole.shape[0]
            first, end = sorted(rng.choice(height + 1, 2, replace=False).tolist())
            for a, b in ((0, height), (height - 1, height), (first, end)):
                part = tmatch.read(path, rows=(a, b), **options)
                assert (part.format, part.dtype) == (whole.format, whole.dtype)
                assert np.array_equal(np.asarray(part), np.asarray(whole)[a:b]), (path, a, b)
                assert (part.mask is None) == (whole.mask is None)
                assert part.mask is None or np.array_equal(np.asarray(part.mask), np.asarray(whole.mask)[a:b])
        height = tmatch.read(path).shape[0]
        for wrong in ((0, 0), (5, 5), (9, 8), (-1, 3), (0, height + 1)):
            with pytest.raises(tmatch.InputError, match=f"{path.name}: rows must be .* {height} rows, not"):
                tmatch.read(path, rows=wrong)
    with pytest.raises(FileNotFoundError):
        tmatch.read(tmp_path / "none.png", rows=(0, 1))
    with pytest.raises(IsADirectoryError):
        tmatch.read(tmp_path, rows=(0, 1))
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(tmatch.InputError, match="broken.png: "):
        tmatch.read(tmp_path / "broken.png", rows=(0, 1))
    with pytest.raises(tmatch.InputError, match="gray.png: the file has 1 page, not page 2"):
        tmatch.read(tmp_path / "gray.png", page=2, rows=(0, 1))


def test_few_rows_of_a_large_file(tmp_path, rng):
    """A file of 3 GB, nearly all of it a hole; reading it whole would take as much memory."""
    rows = rng.integers(0, 256, (10, 50000), dtype=np.uint8)
    with open(tmp_path / "large.pgm", "wb") as file:
        begin = file.write(b"P5 50000 60000 255\n")
        file.truncate(begin + 50000 * 60000)
        file.seek(begin + 50000 * 33000)
        file.write(rows.tobytes())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert np.array_equal(np.asarray(tmatch.read(tmp_path / "large.pgm", rows=(33000, 33010))), rows)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10


def write_tiff(path, picture, strip, compress):
    """In strips of so many rows, by zlib's compression or none."""
    height, width = picture.shape
    strips = [picture[y : y + strip].tobytes() for y in range(0, height, strip)]
    strips = [zlib.compress(one, 1) for one in strips] if compress else strips
    count = len(strips)
    sizes = [len(one) for one in strips]
    fields = {256: width, 257: height, 258: 8, 259: 8 if compress else 1, 262: 1, 277: 1, 278: strip}
    after = 8 + 2 + 12 * (len(fields) + 2) + 4  # the two lists, then the strips
    places = [after + 8 * count + sum(sizes[:i]) for i in range(count)]
    lists = {273: places, 279: sizes}
    entries = {tag: (1, value) for tag, value in fields.items()}
    for i, (tag, values) in enumerate(lists.items()):
        entries[tag] = (count, values[0] if count == 1 else after + 4 * count * i)
    directory = b"".join(struct.pack("<HHII", tag, 4, *entries[tag]) for tag in sorted(entries))
    numbers = struct.pack(f"<{2 * count}I", *places, *sizes)
    head = b"II*\0" + struct.pack("<IH", 8, len(entries))
    path.write_bytes(head + directory + bytes(4) + numbers + b"".join(strips))


def test_which_files_are_read_by_rows(tmp_path, rng):
    """Of a single large strip that is compressed, the last row would take all those before it."""
    picture = rng.integers(0, 8, (2100, 2048), dtype=np.uint8)
    write_pgm(tmp_path / "a.pgm", picture)
    tmatch.write(tmp_path / "a.png", picture)
    assert picture_size(tmp_path / "a.pgm")[2] and not picture_size(tmp_path / "a.png")[2]
    if not reads("libtiff"):
        pytest.skip("this build does not read TIFF")
    for strip, compress, seeks in ((2100, False, True), (2100, True, False), (700, True, True)):
        write_tiff(tmp_path / "a.tif", picture, strip, compress)
        assert picture_size(tmp_path / "a.tif") == (2048, 2100, seeks)
        part = tmatch.read(tmp_path / "a.tif", rows=(1300, 1500))
        assert np.array_equal(np.asarray(part), picture[1300:1500])


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3)])
def test_write_and_read(tmp_path, rng, kind, shape):
    picture = rng.integers(0, np.iinfo(kind).max, shape).astype(kind)
    tmatch.write(tmp_path / "a.png", picture[:, ::-1])
    assert np.array_equal(np.asarray(tmatch.read(tmp_path / "a.png", color=len(shape) == 3)), picture[:, ::-1])


def test_write_elsewhere(tmp_path):
    picture = np.arange(64, dtype=np.uint8).reshape(8, 8)
    tmatch.write(tmp_path / "a.jpg", picture)
    assert np.abs(np.asarray(tmatch.read(tmp_path / "a.jpg")).astype(int) - picture).max() < 20
    tmatch.write(tmp_path / "f.png", picture.astype(np.float32) * 1000)
    assert np.asarray(tmatch.read(tmp_path / "f.png")).max() == 255
    tmatch.write(tmp_path / "f.png", np.dstack([picture] * 3 + [picture // 2]))
    assert np.array_equal(np.asarray(tmatch.read(tmp_path / "f.png")), picture)
    for name in ("a.gif", "a", "none/a.png"):
        with pytest.raises(tmatch.InputError, match=name):
            tmatch.write(tmp_path / name, picture)
    with pytest.raises(ValueError, match="two channels"):
        tmatch.write(tmp_path / "two.png", np.zeros((4, 4, 2), np.uint8))
    assert sorted(os.listdir(tmp_path)) == ["a.jpg", "f.png"]


def test_transparency_is_a_mask(tmp_path, rng):
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    frame = rng.integers(0, 256, (40, 50), dtype=np.uint8)
    icon = np.dstack([frame[10:20, 15:30]] * 3 + [np.full((10, 15), 255, np.uint8)])
    icon[:3] = 0
    Image.fromarray(icon).save(tmp_path / "icon.png")
    template = tmatch.read(tmp_path / "icon.png")
    assert (
        template.mask is not None
        and template.mask.shape == (10, 15)
        and not np.asarray(template.mask)[:3].any()
    )
    (best,) = tmatch.match(frame, template)
    assert best.box == (15, 10, 15, 10) and best.score == 1
    assert tmatch.match(frame, template, mask=np.ones((10, 15), bool))[0].score < 1


def test_draw(data, tmp_path):
    frame, template = tmatch.read(data / "astronaut.png"), tmatch.read(data / "patch.jpg")
    matches = tmatch.match(frame, template)
    before = np.asarray(frame).copy()
    drawn = tmatch.draw(frame, matches, tmp_path / "drawn.png")
    assert drawn.shape == (512, 512, 3) and drawn.dtype == "uint8" and np.array_equal(np.asarray(frame), before)
    assert np.array_equal(np.asarray(tmatch.read(tmp_path / "drawn.png", color=True)), np.asarray(drawn))
    assert np.array_equal(np.asarray(tmatch.draw(frame, matches[0])), np.asarray(drawn))
    program(data, "-q", "-o", tmp_path / "by-program.png", data / "astronaut.png", data / "patch.jpg")
    color = tmatch.read(data / "astronaut.png", color=True)
    tmatch.draw(color, matches, tmp_path / "by-module.png")
    assert (tmp_path / "by-module.png").read_bytes() == (tmp_path / "by-program.png").read_bytes()
    several = tmatch.draw(
        frame, [matches, tmatch.match(frame, np.asarray(frame)[:40, :40])], names=["patch", "corner"]
    )
    assert several.shape[0] >= 512
    assert np.array_equal(np.asarray(tmatch.draw(frame, []))[..., 0], np.asarray(frame))
    for kind in (np.uint16, np.float32):
        tmatch.draw(np.asarray(frame).astype(kind), matches)
    with pytest.raises(tmatch.InputError, match="gif"):
        tmatch.draw(frame, matches, tmp_path / "drawn.gif")


def test_draw_turned(data, tmp_path):
    frame, template = tmatch.read(data / "parts.jpg"), tmatch.read(data / "part.png")
    matches = tmatch.match(frame, template, angle=(10, 360, 50), n=None, min_score=0.4)
    assert len(matches) > 1
    tmatch.draw(tmatch.read(data / "parts.jpg", color=True), matches, tmp_path / "by-module.png")
    program(data, "-q", "-n", "0", "--min-score", "0.4", "--angle", "10:360:50", "-o", tmp_path / "by-program.png",
            data / "parts.jpg", data / "part.png")  # fmt: skip
    assert (tmp_path / "by-module.png").read_bytes() == (tmp_path / "by-program.png").read_bytes()


def program(data, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "tmatch", *map(str, arguments)], check=True, capture_output=True, text=True
    )


def test_the_program(data):
    printed = program(data, "--version").stdout
    assert printed.startswith(f"tmatch {tmatch.__version__}\n")
    failed = subprocess.run([sys.executable, "-m", "tmatch", "--nonsense"], capture_output=True, text=True)
    assert failed.returncode == 2 and failed.stderr.startswith("tmatch: ")


def test_the_program_ends_as_its_reader_does(data):
    """By SIGPIPE, without a word, as it does where Python has not started it."""
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run([sys.executable, "-m", "tmatch", "--help"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (-signal.SIGPIPE, b"")


def test_files(data, tmp_path):
    for name in ("astronaut.png", "patch.jpg", "camera.png"):
        shutil.copy(data / name, tmp_path)
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "notes.txt").write_text("no picture")
    template = tmatch.read(data / "patch.jpg")
    results = list(tmatch.files(tmp_path, data / "patch.jpg", progress=False))
    assert [os.path.basename(r.path) for r in results] == [
        "astronaut.png",
        "broken.png",
        "camera.png",
        "patch.jpg",
    ]
    for r in results:
        if "broken" in r.path:
            assert r.matches == [] and isinstance(r.error, tmatch.InputError)
        else:
            assert r.error is None and r.matches == tmatch.match(tmatch.read(r.path), template)
    paths = [tmp_path / "patch.jpg", tmp_path / "gone.png", tmp_path / "astronaut.png"] * 7
    both = list(tmatch.files(paths, [template, data / "patch.jpg"], workers=3, progress=False, min_score=0.5))
    assert [r.path for r in both] == [os.fspath(p) for p in paths]
    assert isinstance(both[1].error, FileNotFoundError) and both[1].matches == [[], []]
    assert both[2].matches == [tmatch.match(tmatch.read(paths[2]), template)] * 2
    color = next(tmatch.files(tmp_path / "astronaut.png", data / "patch.jpg", color=True, progress=False))
    assert color.matches == tmatch.match(
        tmatch.read(paths[2], color=True), tmatch.read(data / "patch.jpg", color=True)
    )


def write_y4m(path, frames):
    height, width = frames[0].shape
    header = f"YUV4MPEG2 W{width} H{height} F25:1 Cmono XCOLORRANGE=FULL\n".encode()
    path.write_bytes(header + b"".join(b"FRAME\n" + frame.tobytes() for frame in frames))


def write_pages(folder, frames):
    """The frames as the pages of a file of each kind that may have several; the last has a second page that is damaged."""
    write_y4m(folder / "a.y4m", frames)
    write_y4m(folder / "cut.y4m", frames)
    os.truncate(folder / "cut.y4m", os.path.getsize(folder / "cut.y4m") - 100)
    for i, frame in enumerate(frames):
        write_pgm(folder / f"{i}.pgm", frame)
    (folder / "b.pgm").write_bytes(b"".join((folder / f"{i}.pgm").read_bytes() for i in range(len(frames))))
    for i in range(len(frames)):
        (folder / f"{i}.pgm").unlink()
    if not reads("libtiff"):
        return
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    first, *others = (Image.fromarray(frame) for frame in frames)
    for name in ("c.tif", "damaged.tif"):
        first.save(folder / name, save_all=True, append_images=others, compression="tiff_adobe_deflate")
    with Image.open(folder / "damaged.tif") as damaged:
        damaged.seek(1)
        (strip,) = damaged.tag_v2[273]
    with open(folder / "damaged.tif", "r+b") as file:
        file.seek(strip)
        file.write(bytes(100))


@pytest.mark.parametrize("sandbox", [False, True])
def test_files_of_several_pages(data, tmp_path, rng, sandbox):
    """Each page is a result, with the name and what is wrong with it as the program says it."""
    if sandbox:
        need_sandbox(data)
    frames = [rng.integers(0, 256, (40, 50), dtype=np.uint8) for _ in range(3)]
    template = frames[2][13:21, 21:31]
    write_pages(tmp_path, frames)
    tmatch.write(tmp_path / "d.png", frames[2])
    paths = sorted(tmp_path.iterdir())
    tmatch.write(tmp_path / "template.png", template)
    said = subprocess.run(
        [sys.executable, "-m", "tmatch", "-q", "--format=json", "-t", tmp_path / "template.png", *paths],
        capture_output=True, text=True,
    )  # fmt: skip
    expected = [
        (line["frame"], line.get("error"), [(m["x"], m["y"]) for m in line.get("matches", [])])
        for line in map(json.loads, said.stdout.splitlines())
    ]
    assert len(expected) > 9
    results = list(tmatch.files(paths, template, sandbox=sandbox, workers=2, progress=False))
    assert [
        (r.path, str(r.error).removeprefix(f"{r.path}: ") if r.error else None, [(m.x, m.y) for m in r.matches])
        for r in results
    ] == expected
    for r in results:
        name, _, number = r.path.partition("#")
        assert r.page == (int(number) if number else None)
        if r.error is None and r.page:
            assert r.matches == tmatch.match(frames[r.page - 1], template)
        elif r.error:
            assert str(r.error).startswith(f"{r.path}: ") and r.error.status == "PICTURE"
    whole = {name: [r for r in results if r.path.startswith(os.fspath(tmp_path / name))] for name in os.listdir(tmp_path)}
    for name in ("damaged.tif", "cut.y4m"):
        if name in whole:
            assert sum(r.error is not None for r in whole[name]) == 1 and len(whole[name]) == 3
    assert tmatch.read(tmp_path / "a.y4m").shape == (40, 50)
    assert np.array_equal(np.asarray(tmatch.read(tmp_path / "b.pgm")), frames[0])


def test_pages_are_shared_out(tmp_path, rng):
    """No more pages are read than there are workers for."""
    frames = [rng.integers(0, 256, (40, 50), dtype=np.uint8) for _ in range(100)]
    write_y4m(tmp_path / "a.y4m", frames)
    results = tmatch.files(tmp_path, frames[0][5:20, 5:20], workers=2, progress=False)
    assert next(results).matches[0].score == 1
    os.truncate(tmp_path / "a.y4m", 0)
    assert sum(r.error is None for r in results) < 10


@pytest.mark.parametrize("sandbox", [False, True])
def test_movies_are_for_the_program(data, tmp_path, sandbox):
    if sandbox:
        need_sandbox(data)
    begins = {"a.mp4": b"\0\0\0\x18ftypmp42", "b.gif": b"GIF89a", "c.mkv": b"\x1a\x45\xdf\xa3"}
    for name, begin in begins.items():
        (tmp_path / name).write_bytes(begin + bytes(100))
        for rows in (None, (0, 1)):
            with pytest.raises(tmatch.InputError, match=f"{name}: a movie, .* the program matches movies: python -m tmatch$"):
                tmatch.read(tmp_path / name, rows=rows, sandbox=sandbox)
        (result,) = tmatch.files([tmp_path / name], data / "button.png", sandbox=sandbox, progress=False)
        assert "a movie" in str(result.error)
        with pytest.raises(tmatch.InputError, match="a movie"):
            picture_size(tmp_path / name)
    (tmp_path / "no.mp4").write_bytes(b"no movie")
    with pytest.raises(tmatch.InputError, match="not a picture that tmatch reads"):
        tmatch.read(tmp_path / "no.mp4", sandbox=sandbox)


def test_files_with_names_that_no_file_has(data):
    results = list(tmatch.files(["a\0b.tif", "\ud800.tif"], data / "patch.jpg", progress=False))
    assert [type(r.error) for r in results] == [ValueError, UnicodeEncodeError]


def test_files_fail_at_once(data, tmp_path):
    with pytest.raises(FileNotFoundError):
        tmatch.files(data, tmp_path / "none.png")
    with pytest.raises(tmatch.InputError):
        tmatch.files(data, np.zeros((3, 3), np.uint8))
    for wrong in ({"n": -1}, {"n": None}, {"overlap": 2}, {"min_score": 2}, {"min_score": 2, "metric": "ccorr_normed"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            tmatch.files(data, data / "patch.jpg", **wrong)
    with pytest.raises(ValueError, match="metric must be"):
        tmatch.files(data, data / "patch.jpg", metric="zncc")
    for wrong in ((1, 2, 3), "x", 3, (0.5, 0, 20, 20)):
        with pytest.raises(TypeError, match="region must be four integers: x, y, width, height"):
            tmatch.files(data, data / "patch.jpg", region=wrong)
    some = tmatch.files([data / "astronaut.png"] * 50, data / "patch.jpg", workers=2, progress=False)
    next(some)
    some.close()
    assert list(tmatch.files([], data / "patch.jpg", progress=True)) == []


def test_devices():
    first, *others = tmatch.devices()
    assert first.kind == "cpu" and first.units >= 1 and first.name
    assert all(d.kind == "cuda" for d in others)


def test_guide(data, tmp_path, monkeypatch):
    """The examples of docs/guide/from-python.md print what it says."""
    guide = data.parent / "docs" / "guide" / "from-python.md"
    if not guide.exists():
        pytest.skip("the documents are not here")
    (tmp_path / "data").symlink_to(data)
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(os.fspath(guide), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 10 and result.failed == 0


def test_example(data, tmp_path):
    example = data.parent / "examples" / "find.py"
    if not example.exists():
        pytest.skip("the examples are not here")
    printed = subprocess.run(
        [sys.executable, example], check=True, capture_output=True, text=True, cwd=tmp_path
    ).stdout
    assert printed == "x=300 y=200 score=1\n"


def test_stubs(data, tmp_path):
    """mypy finds no fault in the package and in a program that uses it."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    package = pathlib.Path(tmatch.__file__).parent
    uses = pathlib.Path(__file__).parent / "typed.py"
    example = data.parent / "examples" / "find.py"
    for what in (["-p", "tmatch"], [uses, *([example] if example.exists() else [])]):
        checked = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", *what],
            env={**os.environ, "MYPYPATH": os.fspath(package.parent) if "site-packages" not in package.parts else ""},
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
        assert checked.returncode == 0, checked.stdout + checked.stderr
