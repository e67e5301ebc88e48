"""Processes that the script starts, and ends by their ids."""

import os
import signal
import subprocess
import time

from . import machine


# Seconds that a command may take.
PATIENCE = 120


class Failed(Exception):
    """A sentence for a person about a step that failed."""


def wait_for(what, condition, seconds=60, pause=0.05):
    """Waits until the condition returns a true value, and returns that value."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"waited {seconds:.0f} s for {what}, without success")
        time.sleep(pause)


class Processes:
    """Every process of a run. Their output goes to files in the run's directory."""

    def __init__(self, directory, network):
        self.directory = directory
        self.network = network
        self.running = {}

    def start(self, name, command, *, at=None, as_postgres=False, env=None, reads=False):
        """Starts a process at a host of the network; its output is read if `reads` is set, and goes to its log otherwise."""
        command = [str(word) for word in command]
        if as_postgres and machine.is_root():
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command]
        command = self.network.inside(at) + command
        log = open(self.directory / f"{name}.log", "ab")
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if reads else log,
            stderr=log,
            env=dict(os.environ, PATH=machine.search_path(), **(env or {})),
            cwd=self.directory,
            # Ctrl-C is for the driver alone, which ends what it started.
            start_new_session=True,
        )
        log.close()
        self.running[process.pid] = process
        return process

    def run(self, command, *, at=None, as_postgres=False, env=None, text=None, check=True):
        """Runs a command to its end, and returns its output."""
        command = [str(word) for word in command]
        if as_postgres and machine.is_root():
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command]
        try:
            done = subprocess.run(
                self.network.inside(at) + command,
                input=text,
                stdin=subprocess.DEVNULL if text is None else None,
                capture_output=True,
                text=True,
                env=dict(os.environ, PATH=machine.search_path(), **(env or {})),
                cwd=self.directory,
                check=False,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"`{' '.join(command)}` did not end within {PATIENCE} s") from None
        if check and done.returncode:
            raise Failed(f"`{' '.join(command)}`: {(done.stderr or done.stdout).strip()[-2000:]}")
        return done.stdout

    def forget(self, process):
        self.running.pop(process.pid, None)

    def kill(self, process):
        """Kills the process, and waits until it is gone."""
        if process.poll() is None:
            process.kill()
        process.wait()
        self.forget(process)

    def end(self, process, by=signal.SIGTERM, patience=40):
        """Asks the process to end, waits for its end, and returns its exit code."""
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.send_signal(by)
        try:
            code = process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        self.forget(process)
        return code

    def end_all(self):
        for process in list(self.running.values())[::-1]:
            self.kill(process)
