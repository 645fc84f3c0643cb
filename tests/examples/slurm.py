# SPDX-License-Identifier: MIT
"""A SLURM of one controller and two nodes on this machine, with ports, keys and folders of its own, that
runs examples/slurm.sh."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

from machines import SOURCE, Skip

START_S = 20
SHARDS = 4

CONFIGURATION = """\
ClusterName=tmatch
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
ReturnToService=2
KillWait=2
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Cluster:
    def __init__(self, m):
        self.m, self.daemons = m, []
        self.folder = m.folder / "slurm"
        for name in ("munge", "state"):
            (self.folder / name).mkdir(parents=True, mode=0o700)
        m.folder.chmod(0o755)
        m.environment["SLURM_CONF"] = str(self.folder / "slurm.conf")
        text = CONFIGURATION.format(host=socket.gethostname().split(".")[0], folder=self.folder, ports=free_ports(3))
        (self.folder / "slurm.conf").write_text(text)
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)

    def daemon(self, name, *words):
        log = open(self.folder / f"{name}.log", "wb")
        self.daemons.append(subprocess.Popen(words, cwd=self.folder, env=self.m.environment, stdin=subprocess.DEVNULL,
                                             stdout=log, stderr=log))
        log.close()

    def ask(self, *words):
        """What a command of SLURM prints; nothing where it fails."""
        try:
            made = self.m.run(*words, timeout=10)
        except subprocess.TimeoutExpired:
            return ""
        return made.stdout.strip() if made.returncode == 0 else ""

    def start(self):
        munge = self.folder / "munge"
        self.daemon("munged", "munged", "--foreground", "--force", f"--socket={munge}/socket", f"--key-file={munge}/key",
                    f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        end = time.monotonic() + START_S
        while not (munge / "socket").exists() and time.monotonic() < end:
            time.sleep(0.05)
        munge.chmod(0o755)  # now that munged has found its folder safe
        self.daemon("slurmctld", "slurmctld", "-D")
        for node in ("n1", "n2"):
            self.daemon(node, "slurmd", "-D", "-N", node)
        while time.monotonic() < end:
            if self.ask("sinfo", "-h", "-N", "-o", "%N %T").split() == ["n1", "idle", "n2", "idle"]:
                return
            if any(daemon.poll() is not None for daemon in self.daemons):
                break
            time.sleep(0.1)
        raise Skip(f"SLURM did not start within {START_S} s")

    def processes(self):
        """All processes that were started with this cluster's configuration, but ours."""
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        for proc in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (proc / "environ").read_bytes().split(b"\0"):
                    yield int(proc.name)
            except OSError:
                continue  # it has ended

    def stop(self):
        for daemon in self.daemons:
            daemon.kill()
            daemon.wait()
        for _ in range(20):  # what they have started
            left = list(self.processes())
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if not left:
                return
            time.sleep(0.1)

    def run_again(self, job):
        """What was put back into the queue is begun two minutes later, unless it is told to be now."""
        if self.ask("squeue", "-h", "-j", job, "-r", "-t", "PENDING", "-o", "%r").count("BeginTime"):
            self.ask("scontrol", "update", f"JobId={job}", "StartTime=now")


def run_array(cluster, m):
    m.environment["SHARDS"] = str(SHARDS)
    job = cluster.ask("sbatch", "--parsable", f"--array=1-{SHARDS}", SOURCE / "examples/slurm.sh", *m.words)
    assert job, "sbatch failed"
    merge = cluster.ask("sbatch", "--parsable", f"--dependency=afterany:{job}", "--output=merge.err",
                        "--wrap", "tmatch -q --merge log.* >results")
    # The first two run now. One dies, which the script sees; the other's node goes down, which SLURM does.
    begun = [m.kill_shard(1, SHARDS, 5), 1, 1, 1]
    node = cluster.ask("squeue", "-h", "-j", f"{job}_2", "-t", "RUNNING", "-o", "%N") if m.catch_shard(2, 5) else ""
    if node:
        cluster.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
        m.wait(lambda: not m.processes(f"2/{SHARDS}"), "the end of shard 2")
        cluster.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")
        begun[1] += b'{"finished"' not in (m.folder / "log.2").read_bytes()

    def is_over():
        for number in range(1, SHARDS + 1):
            cluster.run_again(f"{job}_{number}")
        return not cluster.ask("squeue", "-h", "-j", f"{job},{merge}", "-o", "%i")
    m.wait(is_over, "the end of the jobs", 120)
    return begun


def slurm(m):
    for program in ("slurmctld", "slurmd", "sbatch", "munged"):
        if not shutil.which(program, path=m.environment["PATH"]):
            raise Skip(f"no {program}")
    if os.getuid() != 0:
        raise Skip("not root")
    expected = m.one_run()
    cluster = Cluster(m)
    try:
        cluster.start()
        begun = run_array(cluster, m)
        said = "".join(path.read_text() for path in m.folder.glob("*.out")) + (m.folder / "merge.err").read_text()
        assert (m.folder / "results").read_text() == expected, "other results\n" + said
        m.check_logs(SHARDS, begun, said)
    finally:
        cluster.stop()
