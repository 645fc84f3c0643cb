# SPDX-License-Identifier: MIT
"""tmatch.dask: frames on the workers of clusters that the tests start."""

import doctest
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import object_store
import pytest
import tmatch

dask = pytest.importorskip("dask", reason="Dask is not installed")
distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
from tmatch.dask import match_files, match_frame  # noqa: E402
from tmatch.dask._client import Crew  # noqa: E402
from tmatch.dask._worker import Work, match_frames  # noqa: E402

# A local cluster gives workers up that do not come back in 15 seconds, which a busy machine may take to start one.
dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})


@pytest.fixture(scope="module")
def client():
    """Two processes of two threads."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def frames(tmp_path, rng):
    """48 frames of noise with the template in most, two of them no pictures, and one that is not there."""
    template = rng.integers(0, 256, (9, 11), dtype=np.uint8)
    paths = []
    for i in range(48):
        frame = rng.integers(0, 256, (60, 80), dtype=np.uint8)
        if i % 5:
            frame[i : i + 9, 13:24] = template
        tmatch.write(tmp_path / f"{i:02}.png", frame)
        paths.append(os.fspath(tmp_path / f"{i:02}.png"))
    (tmp_path / "07.png").write_bytes(b"no picture")
    (tmp_path / "20.png").write_bytes((tmp_path / "21.png").read_bytes()[:100])
    return [*paths, os.fspath(tmp_path / "none.png")], template


def plain(result):
    return result.path, result.matches, type(result.error), str(result.error)


def same(results, expected, ordered=True):
    found, wanted = list(map(plain, results)), list(map(plain, expected))
    return found == wanted if ordered else sorted(found, key=lambda r: r[0]) == wanted


@pytest.mark.parametrize(
    "options",
    [
        {"n": 3, "min_score": 0.5, "margin": True},
        {"angle": (-10, 10, 10), "scale": 1.1, "subpixel": True},
        {"region": (5, 3, 60, 50), "metric": "sqdiff", "domain": "same"},
        {"n": None, "min_score": 0.3, "overlap": 0.1, "device": "cpu", "algorithm": "fft"},
        {"region": (0, 0, 81, 60)},
    ],
)
def test_same_as_files(client, frames, rng, options):
    paths, template = frames
    mask = rng.random(template.shape) < 0.8 if "angle" not in options else None
    expected = list(tmatch.files(paths, template, mask=mask, progress=False, **options))
    assert same(match_files(client, template, paths, mask=mask, ordered=True, **options), expected)
    assert same(
        match_files(client, template, paths, mask=mask, batch=5, ahead=3, **options), expected, ordered=False
    )


def test_templates_of_all_kinds(client, data, frames, monkeypatch):
    """A list, paths, pictures with masks, colour, a folder, paths from here."""
    paths, template = frames
    icon = tmatch.read(data / "astronaut.png", color=True)
    several = [np.asarray(icon)[300:330, 200:240], data / "patch.jpg"]
    monkeypatch.chdir(data)
    names = ["astronaut.png", "patch.jpg"]
    expected = list(tmatch.files(names, several, color=True, progress=False))
    assert expected[0].matches[0][0].score == 1
    assert same(match_files(client, several, names, color=True, ordered=True), expected)
    masked = tmatch.read(paths[1])
    masked.mask = tmatch.read(paths[2])
    folder = os.path.dirname(paths[0])
    for one in (masked, np.asarray(masked)[::2, ::-1], np.asarray(masked).astype(">u2").astype(np.uint16)):
        expected = list(tmatch.files(folder, one, progress=False))
        assert same(match_files(client, one, folder, ordered=True), expected)
    assert list(match_files(client, template, [])) == []


def test_few_tasks_at_a_time(client, tmp_path, rng):
    """20,000 files are few tasks, and never more than two for each thread."""
    frame = rng.integers(0, 256, (12, 12), dtype=np.uint8)
    tmatch.write(tmp_path / "a.png", frame)
    most = count = 0
    for result in match_files(client, frame[3:8, 2:9], [tmp_path / "a.png"] * 20000):
        most, count = max(most, len(client.futures)), count + 1
        assert result.matches[0].box == (2, 3, 7, 5)
    assert count == 20000 and 1 < most <= 2 * 4 + 1 + 2 * 4  # the templates, and those that were just taken
    results = match_files(client, frame[3:8, 2:9], [tmp_path / "a.png"] * 20000, ordered=True)
    next(results)
    results.close()


@pytest.fixture
def slow(tmp_path, rng):
    """Frames, and arguments with which each takes some hundredths of a second."""
    frame = rng.integers(0, 256, (200, 300), dtype=np.uint8)
    for i in range(40):
        tmatch.write(tmp_path / f"{i:02}.png", np.roll(frame, i, 1))
    return frame[50:80, 100:140], tmp_path, {"angle": (0, 300, 60), "search": "exhaustive"}


def test_no_worker_yet():
    """Work is begun all the same, however often it is asked how many threads there are."""

    class Empty:
        def nthreads(self):
            return {}

    crew = Crew(Empty(), "cpu")
    assert [crew.threads() for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("killed", [1, 2])
def test_killed_workers(slow, killed):
    template, folder, options = slow
    expected = list(tmatch.files(folder, template, progress=False, **options))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = list(client.run(os.getpid).values())
        results = match_files(client, template, folder, batch=2, **options)
        found = [next(results)]
        for worker in workers[:killed]:
            os.kill(worker, signal.SIGKILL)
        found += results
    assert same(found, expected, ordered=False)


class Deadly(distributed.WorkerPlugin if hasattr(distributed, "WorkerPlugin") else object):
    """Registers URLs of local files: each reading is noted in the file "reads" beside the file, and kills the
    worker if the file is called always.png, or once.png and was not read before."""

    name = "deadly"

    def setup(self, worker):
        import fsspec
        from fsspec.implementations.local import LocalFileSystem

        class Deadliest(LocalFileSystem):
            protocol = "deadly"

            @classmethod
            def _strip_protocol(cls, path):
                return path.removeprefix("deadly://")

            def cat_file(self, path, start=None, end=None, **kwargs):
                folder, name = os.path.split(path)
                with open(os.path.join(folder, "reads"), "a+") as reads:
                    reads.seek(0)
                    again = f"{name}\n" in reads
                    reads.write(f"{name}\n")
                if name == "always.png" or (name == "once.png" and not again):
                    os.kill(os.getpid(), signal.SIGKILL)
                with open(path, "rb") as file:
                    return file.read()

        fsspec.register_implementation("deadly", Deadliest, clobber=True)


def keep_workers(cluster, client, ended, patience=20):
    """Dask's nannies give up where a new worker takes long to start, as on a busy machine: others are started."""
    since = time.monotonic()
    while not ended.wait(0.5):
        if client.nthreads():
            since = time.monotonic()
        elif time.monotonic() - since > patience:
            cluster.scale(0)
            cluster.scale(2)
            since = time.monotonic()


@pytest.fixture(scope="module")
def deadly():
    """Two processes of a thread, where the first death with a frame makes it a suspect."""
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster) as client:
        register = (
            client.register_plugin if hasattr(client, "register_plugin") else client.register_worker_plugin
        )
        register(Deadly())
        ended = threading.Event()
        keeper = threading.Thread(target=keep_workers, args=(cluster, client, ended))
        keeper.start()
        yield client
        ended.set()
        keeper.join()


def test_frame_that_kills(deadly, frames, tmp_path):
    """Results that come as they are made do not wait for it."""
    paths, template = frames
    expected = list(tmatch.files(paths[:7], template, progress=False))
    killer = f"deadly://{tmp_path}/always.png"
    results = list(match_files(deadly, template, [*paths[:4], killer, *paths[4:7]], batch=2))
    (killed,) = (result for result in results if result.path == killer)
    assert killed.matches == [] and isinstance(killed.error, distributed.KilledWorker)
    results.remove(killed)
    assert same(results, expected, ordered=False)


@pytest.mark.parametrize("name", ["once.png", "always.png"])
def test_results_behind_a_frame_that_kills(deadly, frames, tmp_path, name):
    """They come in order once its fate is known; until then few frames are read."""
    paths, template = frames
    os.rename(paths[1], tmp_path / name)
    urls = [f"deadly://{path}" for path in [*paths[2:6], tmp_path / name, *[paths[6]] * 400]]
    (found,) = tmatch.files(tmp_path / name, template, progress=False)
    (other,) = tmatch.files(paths[6], template, progress=False)
    results = match_files(deadly, template, urls, batch=2, ordered=True)
    assert [next(results).path for _ in range(4)] == urls[:4]
    fate = next(results)
    assert fate.path == urls[4] and (tmp_path / "reads").read_text().count("\n") < 200
    if name == "once.png":
        assert fate.error is None and fate.matches == found.matches
    else:
        assert fate.matches == [] and isinstance(fate.error, distributed.KilledWorker)
    behind = list(results)
    assert [r.path for r in behind] == urls[5:] and all(r.matches == other.matches for r in behind)


def start(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments, "--scheduler-file", folder / "scheduler.json", "--no-dashboard"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
    )  # fmt: skip


def test_processes_of_their_own(slow, tmp_path_factory):
    """dask scheduler and dask worker; one worker is killed for good, another comes."""
    template, folder, options = slow
    own = tmp_path_factory.mktemp("dask")
    worker = ("worker", "--nthreads", "2", "--no-nanny", "--local-directory", os.fspath(own))
    expected = list(tmatch.files(folder, template, progress=False, **options))
    processes = [start(own, "scheduler", "--host", "127.0.0.1", "--port", "0")]
    try:
        processes += [start(own, *worker), start(own, *worker)]
        while not (own / "scheduler.json").exists():
            assert processes[0].poll() is None
            time.sleep(0.05)
        with distributed.Client(scheduler_file=own / "scheduler.json") as client:
            client.wait_for_workers(2)
            results = match_files(client, template, folder, batch=2, **options)
            found = [next(results)]
            processes[1].kill()
            processes.append(start(own, *worker))
            found += results
            assert same(found, expected, ordered=False)
            client.wait_for_workers(2)
            assert same(match_files(client, template, folder, ordered=True, **options), expected)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_urls(threads, frames):
    """file:// and memory://, one by one, as a pattern and as a folder."""
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    paths, template = frames
    memory = fsspec.filesystem("memory")
    for path in paths[:-1]:
        with open(path, "rb") as file:
            memory.pipe_file("/frames/" + os.path.basename(path), file.read())
    memory.pipe_file("/frames/notes.txt", b"no picture")
    expected = [result.matches for result in tmatch.files(paths, template, progress=False)]
    folder = os.path.dirname(paths[0])
    for base in ("memory://frames", "file://" + folder):
        urls = [f"{base}/{os.path.basename(path)}" for path in paths]
        results = list(match_files(threads, template, urls, ordered=True))
        assert [r.path for r in results] == urls and [r.matches for r in results] == expected
        assert isinstance(results[7].error, tmatch.InputError) and urls[7] in str(results[7].error)
        assert isinstance(results[-1].error, FileNotFoundError)
        for frames in (base + "/", base + "/*.png"):
            results = list(match_files(threads, template, frames, ordered=True))
            assert [os.path.basename(r.path) for r in results] == [
                os.path.basename(path) for path in paths[:-1]
            ]
            assert [r.matches for r in results] == expected[:-1]
    (found,) = match_files(threads, base + "/01.png", urls[1:2])
    assert found.matches[0].score == 1
    unknown = next(match_files(threads, template, ["unknown://a.png"]))
    assert isinstance(unknown.error, ValueError) and "unknown" in str(unknown.error)


def test_sandbox(threads, data):
    try:
        tmatch.read(data / "patch.jpg", sandbox=True)
    except tmatch.Error as error:
        pytest.skip(f"there is no sandbox: {error}")
    names = [data / "astronaut.png", data / "no.png", f"file://{data}/camera.png"]
    expected = list(match_files(threads, data / "patch.jpg", names, ordered=True))
    assert same(match_files(threads, data / "patch.jpg", names, sandbox=True, ordered=True), expected)


def test_object_store(client, frames, tmp_path_factory):
    """s3:// on a server in this process, one by one, as a pattern and as a folder."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    paths, template = frames
    folder = tmp_path_factory.mktemp("store")
    shutil.copytree(os.path.dirname(paths[0]), folder / "bucket" / "in")
    (folder / "bucket" / "in" / "notes.txt").write_text("no picture")
    urls = ["s3://bucket/in/" + os.path.basename(path) for path in paths]
    expected = [result.matches for result in tmatch.files(paths, template, progress=False)]
    with object_store.serve(folder, "the-key") as url:
        options = {"key": "the-key", "secret": "s3cret", "client_kwargs": {"endpoint_url": url}}
        results = list(match_files(client, template, urls, storage_options=options, ordered=True))
        assert [r.matches for r in results] == expected and isinstance(results[-1].error, FileNotFoundError)
        for many in ("s3://bucket/in/", "s3://bucket/in/*.png"):
            results = list(match_files(client, template, many, storage_options=options, ordered=True))
            assert [r.path for r in results] == urls[:-1] and [r.matches for r in results] == expected[:-1]
        (lost,) = match_files(client, template, ["s3://nowhere/a.png"], storage_options=options)
        assert isinstance(lost.error, OSError) and lost.matches == []
        options["key"] = "another"
        (refused,) = match_files(client, template, urls[:1], storage_options=options)
        assert isinstance(refused.error, PermissionError) and "s3cret" not in str(refused.error)
        frame = urls[1]
        options["key"] = "the-key"
        assert match_frame(client, template, frame, storage_options=options, parts=3) == expected[1]


def test_fails_at_once(threads, data, tmp_path):
    frame = data / "astronaut.png"
    with pytest.raises(FileNotFoundError):
        match_files(threads, tmp_path / "none.png", [frame])
    with pytest.raises(tmatch.InputError, match="flat"):
        match_files(threads, np.zeros((3, 3), np.uint8), [frame])
    for wrong in ({"batch": 0}, {"ahead": 0}, {"device": "gpu"}, {"algorithm": "best"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
            match_files(threads, data / "patch.jpg", [frame], **wrong)
    for wrong in ({"n": -1}, {"overlap": 2}, {"n": None}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            match_files(threads, data / "patch.jpg", [frame], **wrong)
    for no_client in ("scheduler:8786", None, threads.cluster):
        with pytest.raises(TypeError, match=f"must be a distributed.Client, not {type(no_client).__name__}"):
            match_files(no_client, data / "patch.jpg", [frame])
    with pytest.raises(ValueError, match="the client is closed"):
        with distributed.Client(threads.cluster) as closed:
            pass
        match_files(closed, data / "patch.jpg", [frame])
    with pytest.raises(TypeError, match="asynchronous"):
        match_files(types.SimpleNamespace(asynchronous=True), data / "patch.jpg", [frame])


def test_faults_of_workers(threads, data):
    """Another version of tmatch, and no such device."""
    work = Work(tmatch.read(data / "patch.jpg"), None, {"device": "auto"}, {})
    work.version = "0.0"
    with pytest.raises(RuntimeError, match="has tmatch .*, the client 0.0: both need the same"):
        threads.submit(match_frames, work.token, work, []).result()
    with pytest.raises(tmatch.Error):
        list(match_files(threads, data / "patch.jpg", [data / "astronaut.png"], device="cuda:63"))


def test_closed_meanwhile(threads, data):
    """It is said, and there is no waiting for results that never come."""
    with distributed.Client(threads.cluster) as client:
        results = match_files(client, data / "patch.jpg", [data / "astronaut.png"] * 500, batch=1)
        next(results)
    with pytest.raises(RuntimeError, match="was closed or restarted before all was matched"):
        list(results)


def test_workers_without_tmatch(data):
    client = types.SimpleNamespace(
        asynchronous=False, run=lambda *_: {"tcp://a:1": None, "tcp://b:2": "spec"}
    )
    with pytest.raises(ModuleNotFoundError, match="1 of 2 workers have no tmatch, such as tcp://a:1"):
        match_files(client, data / "patch.jpg", [data / "astronaut.png"])


def test_gpus(data, monkeypatch):
    """No more threads share a worker's GPU than its resource says; with device='cuda' tasks ask for it."""
    if not os.environ.get("TMATCH_FAKE_PLUGIN_DIR"):
        pytest.skip("TMATCH_FAKE_PLUGIN_DIR names no CUDA backend for tests")
    monkeypatch.setenv("TMATCH_PLUGIN_DIR", os.environ["TMATCH_FAKE_PLUGIN_DIR"])

    def take(work, count):
        taken = [work.take() for _ in range(count)]
        for one in taken:
            work.give_back(*one)
        return [device for device, _ in taken], [work.take()[0] for _ in range(count)]

    work = Work(tmatch.read(data / "patch.jpg"), None, {"device": "auto"}, {})
    names = [data / "astronaut.png", data / "camera.png"] * 3
    expected = list(tmatch.files(names, data / "patch.jpg", device="cpu", progress=False))
    for resources, devices in (({"GPU": 2}, ["auto"] * 2 + ["cpu"] * 4), ({}, ["auto"] * 4 + ["cpu"] * 2)):
        with (
            distributed.LocalCluster(
                n_workers=1,
                threads_per_worker=2,
                processes=False,
                dashboard_address=":0",
                resources=resources,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            assert client.submit(take, work, 6).result() == (devices, devices)
            for device in ("auto", "cuda", "cuda:1"):
                assert same(
                    match_files(client, data / "patch.jpg", names, device=device, ordered=True), expected
                )


def test_guide(data, tmp_path, monkeypatch):
    """The examples of docs/many-machines.md print what it says."""
    guide = data.parent / "docs" / "many-machines.md"
    if not guide.exists():
        pytest.skip("the documents are not here")
    (tmp_path / "data").symlink_to(data)
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(os.fspath(guide), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 4 and result.failed == 0


def test_without_dask():
    hide = "import sys; sys.modules['distributed'] = None; import tmatch, tmatch.dask"
    failed = subprocess.run([sys.executable, "-c", hide], capture_output=True, text=True)
    assert failed.returncode == 1
    assert (
        "ImportError: tmatch.dask needs distributed" in failed.stderr
        and "pip install 'tmatch[dask]'" in failed.stderr
    )
