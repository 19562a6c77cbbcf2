"""Slurm for tests: `FakeSlurm`, three programs that keep to what ours read of Slurm's, and `RealSlurm`, a controller and
two nodes on this machine.

As a program, called sbatch, squeue or scancel, this file is the fake. It starts all tasks of a job at once."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import class_tools as tools

FOLDER = "FAKE_SLURM"
LOST = "FAKE_SLURM_LOSES_JOBS"  # tasks end at once and leave nothing, as where a folder is not shared
BROKEN = "FAKE_SLURM_HAS_NO_FMT"  # tasks end at once with what a loader says


class FakeSlurm:
    def __init__(self, work):
        self.folder = work / "fake_slurm"
        (self.folder / "bin").mkdir(parents=True)
        for name in ("sbatch", "squeue", "scancel"):
            program = self.folder / "bin" / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable} -B {__file__} {name} "$@"\n', encoding="utf-8")
            program.chmod(0o755)
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, FOLDER: str(self.folder)}

    def kill_task(self, part):
        """As if its node had lost power."""
        latest = max(self.folder.glob(f"*_{part}"), key=lambda path: int(path.name.split("_")[0]))
        kill_tree(int(latest.read_text(encoding="utf-8")))

    def stop(self):
        pass


def kill_tree(pid):
    for process in [pid, *(child for child, _ in tools.descendants(pid))]:
        with contextlib.suppress(ProcessLookupError):  # it went with the one before
            os.kill(process, signal.SIGKILL)


class RealSlurm:
    """Needs root, and Debian's packages slurm-wlm and munge. Touches no configuration of the machine's own."""

    PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")

    @classmethod
    def why_not(cls):
        missing = [program for program in cls.PROGRAMS if shutil.which(program) is None]
        return f"{missing[0]} is not installed" if missing else "" if os.geteuid() == 0 else "only root starts Slurm"

    def __init__(self, work):
        self.folder = work / "slurm"
        self.folder.mkdir(mode=0o755)
        self.processes = {}
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        munge = ["munged", "--foreground", "--force", "--num-threads=2", f"--key-file={key}"]
        for option in ("socket", "pid-file", "log-file", "seed-file"):
            munge.append(f"--{option}={self.folder}/munge.{option}")
        self.start("munge", munge)
        ports = free_ports(3)
        config = self.folder / "slurm.conf"
        config.write_text(
            f"""ClusterName=course
SlurmctldHost={socket.gethostname()}(127.0.0.1)
SlurmUser=root
AuthInfo=socket={self.folder}/munge.socket
SlurmctldPort={ports[0]}
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool-%n
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/%n.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=10
SlurmdParameters=config_overrides
NodeName=node1 NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1
NodeName=node2 NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1
PartitionName=all Nodes=ALL Default=YES State=UP
""",
            encoding="utf-8",
        )
        (self.folder / "state").mkdir()
        self.environment = {**os.environ, "SLURM_CONF": str(config)}
        self.start("controller", ["slurmctld", "-D"])
        for node in ("node1", "node2"):
            self.start(node, ["slurmd", "-D", "-N", node])
        end = time.monotonic() + 60
        while self.ask("sinfo", "--noheader", "--format=%T %D").strip() != "idle 2":
            if time.monotonic() > end:
                raise RuntimeError(f"Slurm does not start: {self.logs()}")
            time.sleep(0.5)

    def start(self, name, words):
        log = open(self.folder / f"{name}.out", "wb")
        environment = getattr(self, "environment", None)
        self.processes[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                env=environment)  # fmt: skip
        time.sleep(0.5)

    def ask(self, *words):
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
                              env=self.environment).stdout  # fmt: skip

    def logs(self):
        return "\n".join(path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.log"))

    def tasks_on(self, node):
        """The processes that look after a job's tasks on the node; slurmd is not their parent."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                environment = path.read_bytes().split(b"\0")
            except OSError:
                continue
            if f"SLURMD_NODENAME={node}".encode() in environment:
                found.append(int(path.parent.name))
        return found

    def kill_node(self, node):
        """As if it had lost power."""
        self.processes[node].kill()
        self.processes[node].wait()
        steps = {tools.read_process(pid)[0] for pid in self.tasks_on(node) if tools.read_process(pid)}
        for pid in {*self.tasks_on(node), *steps} - {0, 1, os.getpid()}:
            if "slurmstepd" in tools.command_line(pid) or pid in self.tasks_on(node):
                os.kill(pid, signal.SIGKILL)

    def stop(self):
        for name in reversed(self.processes):
            self.processes[name].terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


# ---- the fake ----


def fake(name, words):
    folder = pathlib.Path(os.environ[FOLDER])
    if words == ["--version"]:
        print("slurm 22.05.8")
        return 0
    options = dict(re.match(r"--([a-z-]+)=?(.*)", word).groups() for word in words if word.startswith("--"))
    if name == "sbatch":
        job = str(1 + len({path.name.split("_")[0] for path in folder.glob("*_*")}))
        command = ["sh", words[-1]]
        if BROKEN in os.environ:
            command = ["sh", "-c", "echo course-staff: cannot open libfmt.so.9; exit 127"]
        for part in options["array"].split(","):
            log = "/dev/null"
            if LOST in os.environ:
                command = ["true"]
            else:
                log = pathlib.Path(options["chdir"]) / options["output"].replace("%a", part)
            with open(log, "ab") as output:
                task = subprocess.Popen(command, cwd=options["chdir"], stdin=subprocess.DEVNULL, stdout=output,
                                        stderr=output, start_new_session=True,
                                        env={**os.environ, "SLURM_ARRAY_TASK_ID": part})  # fmt: skip
            (folder / f"{job}_{part}").write_text(str(task.pid), encoding="utf-8")
        print(job)
        return 0
    job = options["jobs"] if name == "squeue" else words[0]
    for path in sorted(folder.glob(f"{job}_*")):
        pid = int(path.read_text(encoding="utf-8"))
        if tools.read_process(pid) is None:
            continue
        if name == "squeue":
            print(path.name.split("_")[1])
        else:
            os.kill(pid, signal.SIGTERM)
    return 0


if __name__ == "__main__":
    sys.exit(fake(sys.argv[1], sys.argv[2:]))
