"""Runs runners side by side and keeps what each run used."""

import functools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Sample:
    status: int
    wall: float  # seconds
    processor: float  # seconds, user and system, of everything that was started
    memory: int  # bytes: the largest resident set of one process
    processes: int  # started by the whole machine meanwhile


@dataclass
class Runner:
    """One line of a table: how to run it, and how to see that the work was done."""

    name: str
    command: list
    folder: Path
    is_floor: bool = False
    least_processes: int = 0  # fewer cannot have done the work
    check: object = None  # called with the output file; returns what is wrong, or None
    prepare: object = None  # called before each run
    keeps_state: bool = False  # what earlier runs have left is what is measured
    samples: list = field(default_factory=list)
    problem: str = ""

    def wall(self):
        return statistics.median(sample.wall for sample in self.samples)

    def processor(self):
        return statistics.median(sample.processor for sample in self.samples)

    def memory(self):
        return statistics.median(sample.memory for sample in self.samples)

    def ratio(self, other, quantity):
        """The median of the ratios within each round: what slows the machine slows both."""
        pairs = zip(self.samples, other.samples)
        return statistics.median(getattr(mine, quantity) / max(getattr(its, quantity), 1e-9)
                                 for mine, its in pairs)


def fresh_folder(place):
    """A new folder in a directory. After files were removed, ext4 takes long to make new ones near them, up to a
    millisecond each and for minutes, whoever removed them. So it is told to put new folders in there far from others;
    where, it takes from their random names. Other file systems refuse that."""
    subprocess.run(["chattr", "+T", place], capture_output=True, check=False)
    return Path(tempfile.mkdtemp(dir=place))


class Bench:
    def __init__(self, programs, place):
        """`place` is an empty directory for everything that the runners need."""
        self.programs = Path(programs)
        self.scratch = fresh_folder(place)
        self.environment = os.environ | {"TMPDIR": str(fresh_folder(place))}
        # What runners print goes to memory where that can be: no disk is measured.
        memory = Path("/dev/shm")
        self.asides = 0
        self.captured = (memory if memory.is_dir() else self.scratch) / f"{self.scratch.name}.txt"

    def program(self, name):
        return str(self.programs / name)

    def sample(self, runner):
        if runner.prepare:
            runner.prepare()
        for trace in () if runner.keeps_state else (".oprun", ".ninja_log", ".ninja_deps"):
            target = runner.folder / trace
            if target.is_dir():
                # Put aside, not removed: for five seconds ext4 passes over every inode that was, one by
                # one, whenever a file is made. After 1,000 logs that is a millisecond for each file.
                self.asides += 1
                target.rename(self.scratch / f"aside-{self.asides}")
            elif target.exists():
                target.unlink()
        result, output = self.scratch / "result.txt", self.captured
        subprocess.run([self.program("measure"), result, output, *runner.command],
                       cwd=runner.folder, env=self.environment, check=True)
        status, wall, processor, memory, processes = map(int, result.read_text().split())
        found = Sample(status, wall / 1e9, processor / 1e6, memory * 1024, processes)
        return found, self.problem(runner, found, output)

    def problem(self, runner, sample, output):
        if sample.status != 0:
            last = output.read_bytes()[-200:].decode(errors="replace").strip()
            return f"exit status {sample.status}: {last}"
        if sample.processes < runner.least_processes:
            return f"only {sample.processes} processes were started"
        return runner.check(output) if runner.check else None

    def with_memory_in_use(self, runners, megabytes):
        """Has a file of that size written and removed before each run, and what the runner left before: a virtual
        machine gives free memory back to its host, and getting it again takes seven times as long as using it."""
        def prepare(runner):
            shutil.rmtree(runner.folder / ".oprun", ignore_errors=True)
            filler = self.scratch / "filler"
            with open(filler, "wb") as file:
                for _ in range(megabytes):
                    file.write(bytes(1 << 20))
            filler.unlink()

        for runner in runners:
            runner.prepare = functools.partial(prepare, runner)

    def clear(self, kept):
        """Removes what is not in `kept`."""
        for entry in set(self.scratch.iterdir()) - kept:
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def measure(self, runners, rounds):
        """A B C, A B C, ...: so that a slow moment of the machine meets all of them."""
        for number in range(rounds):
            for runner in runners:
                if runner.problem:
                    continue
                if sys.stderr.isatty():
                    print(f"\r\033[K  {number + 1}/{rounds} {runner.name}", end="", file=sys.stderr)
                sample, problem = self.sample(runner)
                runner.problem = problem or ""
                if not problem:
                    runner.samples.append(sample)
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        return runners
