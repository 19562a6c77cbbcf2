"""The side without a GPU: starts the worker, asks it case by case, and goes on when it dies. Needs no PyTorch."""

import contextlib
import json
import os
import queue
import subprocess
import tempfile
import threading

STARTING_SECONDS = 300  # PyTorch, the first context and the ceilings
LAST_WORDS = 400  # characters


class Died(Exception):
    """The worker ended, or took too long; the message says how, for the result of the case that it was at."""


class Lacks(Exception):
    """This machine cannot run the comparison; the message says why."""


class Client:
    """Asks a worker, which is started when it is needed and again after it has died."""

    def __init__(self, command: list[str], libraries: dict, case_seconds: float, triton: bool = False):
        self.command, self.libraries, self.case_seconds, self.triton = command, libraries, case_seconds, triton
        self.process, self.answers, self.noise = None, None, None
        self.machine, self.ceilings = None, None

    def start(self):
        """Starts a worker and waits until it is ready.

        @throws Lacks if there is no GPU or no PyTorch
        """
        self.noise = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.noise,
                                        text=True)
        self.answers = queue.Queue()
        threading.Thread(target=self._read, args=(self.process.stdout, self.answers), daemon=True).start()
        try:
            self._send({"libraries": self.libraries, "ceilings": self.machine is None, "triton": self.triton})
            ready = self._receive(STARTING_SECONDS)
        except Died as died:
            raise Lacks(f"The process that has the GPU did not start: {died}") from died
        if "lacks" in ready:
            raise Lacks(ready["lacks"])
        if self.machine is None:
            self.machine, self.ceilings = ready["machine"], ready["ceilings"]

    @staticmethod
    def _read(stream, answers):
        for line in stream:
            answers.put(line)
        answers.put(None)

    def _send(self, message: dict):
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Died(self._how_it_ended()) from error

    def _receive(self, seconds: float) -> dict:
        try:
            line = self.answers.get(timeout=seconds)
        except queue.Empty:
            self.stop()
            raise Died(f"it took longer than {seconds:.0f} s and was ended.") from None
        if line is None:
            raise Died(self._how_it_ended())
        return json.loads(line)

    def _how_it_ended(self) -> str:
        """The end of what the worker said, and its status."""
        status = self.process.wait()
        size = self.noise.seek(0, os.SEEK_END)
        self.noise.seek(max(size - LAST_WORDS, 0))
        words = " ".join(self.noise.read().decode("utf-8", "replace").split())
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return f"its process ended with {how}: {words or 'it said nothing'}"

    def ask(self, case, errors: bool) -> dict:
        """What the worker found; if it died of the case, that."""
        try:
            if self.process is None or self.process.poll() is not None:
                self.start()
            self._send({"case": case.as_json(), "errors": errors})
            return self._receive(self.case_seconds)
        except (Died, Lacks) as ended:
            self.stop()
            return {**case.as_json(), "ours": {"failed": str(ended)}, "torch": {}, "gpu_state": None}

    def stop(self):
        """Ends the worker, if one is left."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.noise):
            with contextlib.suppress(OSError):  # a pipe may hold what nobody will read
                stream.close()
        self.process = None
