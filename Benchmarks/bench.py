"""Measures oprun beside ninja, make and the least that a C program can do.

Started by Scripts/bench, which builds everything first.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import caching
import language
import masking
import observing
import tables
import workload
from measuring import Bench, Runner

DIRECT, SHELL = "/bin/true", "true;"


class Rows:
    """Each method measures one row of the table of figures and returns its Markdown."""

    def __init__(self, bench, oprun, quick):
        self.bench, self.oprun, self.quick = bench, oprun, quick
        self.rounds = 5
        self.figures = []  # (what, measured, goal)

    def size(self, whole):
        return whole // 10 if self.quick else whole

    # ------------------------------------------------------------------------------ runners

    def runners(self, name, steps, width, floor=(), least=True):
        folder = self.bench.scratch / name
        workload.write(steps, folder, width)
        processes = len(steps) if least else 0
        commands = {
            "floor": [self.bench.program("floor"), *floor, str(width), "graph"],
            "oprun": [self.oprun, "run", "pipeline.yml"],
            "make": ["make", "-s", f"-j{width}"],
            "ninja": ["ninja", "--quiet", f"-j{width}"],
        }
        return [Runner(label, command, folder, label == "floor", processes)
                for label, command in commands.items()]

    def graph_row(self, title, note, steps, width, floor=(), rounds=None, goals=(), sessions=True):
        name = title.replace(" ", "-").replace(",", "")
        runners = self.runners(name, steps, width, floor)
        if sessions:
            # The least for a runner that gives each command a session of its own, as oprun does.
            command = [self.bench.program("floor"), *floor, "-s", str(width), "graph"]
            runners.append(Runner("floor, in sessions", command, runners[0].folder, False, len(steps)))
        self.bench.measure(runners, rounds or self.rounds)
        if len(steps) == 10_000:
            self.add_figure(f"{title}: peak memory", runners[1], memory, "≤ 12 MB")
        for quantity, goal in goals:
            self.add_ratio(title, runners, quantity, goal)
        return tables.table(title, note, runners)

    def add_ratio(self, title, runners, quantity, goal):
        floor, oprun = runners[0], runners[1]
        if oprun.samples and floor.samples:
            name = {"wall": "wall time", "processor": "processor time"}[quantity]
            ratio = oprun.ratio(floor, quantity)
            self.figures.append((f"{title}: {name}", f"{ratio:.2f} × floor", f"≤ {goal} × floor"))

    def add_figure(self, title, oprun, text, goal):
        if oprun.samples:
            self.figures.append((title, text(oprun), goal))

    # --------------------------------------------------------------------------------- rows

    def independent(self):
        sizes = [1000] if self.quick else [1000, 10000]
        text = []
        for count in sizes:
            for width in (2, 8):
                text.append(self.graph_row(
                    f"{count:,} independent steps, no shell needed, {width} at once",
                    "Each step is `/bin/true`. ninja always starts a shell.",
                    workload.independent(count, DIRECT), width, ["-d"],
                    goals=[("wall", 1.02), ("processor", 1.02)]))
                text.append(self.graph_row(
                    f"{count:,} independent steps through the shell, {width} at once",
                    "Each step is `true;`: one `sh` for each.",
                    workload.independent(count, SHELL), width,
                    goals=[("wall", 1.04), ("processor", 1.04)]))
        return "\n".join(text)

    def chain(self):
        count = 300 if self.quick else 2000
        return self.graph_row(
            f"A chain of {count:,}", "Each step (`true;`) waits for the one before.",
            workload.chain(count, SHELL), 2, goals=[("processor", 1.06)])

    def layered(self):
        count = 1000 if self.quick else 10000
        return self.graph_row(
            f"A layered graph of {count:,}", "50 layers, each step (`true;`) waits for one to four.",
            workload.layered(count, SHELL), 2, goals=[("processor", 1.05)])

    def dry_run(self):
        text = []
        for count in [10_000] if self.quick else [10_000, 100_000, 500_000]:
            command = "cc -O2 -c src/module.c -o build/module.o --flag=value"
            steps = workload.layered(count, command)
            folder = self.bench.scratch / f"dry-{count}"
            workload.write(steps, folder, 2)
            size = (folder / "pipeline.yml").stat().st_size

            def every_step(output, count=count):
                found = output.read_bytes().count(b"\n")
                return None if found >= count else f"{found} lines for {count} steps"

            runners = [
                Runner("floor", [self.bench.program("parse"), "pipeline.yml"], folder, True),
                Runner("oprun", [self.oprun, "run", "--dry-run", "pipeline.yml"], folder,
                       check=every_step),
                Runner("make", ["make", "-n"], folder, check=every_step),
                Runner("ninja", ["ninja", "-n"], folder, check=every_step),
            ]
            self.bench.measure(runners, self.rounds if count <= 100_000 else 5)
            oprun = runners[1]
            title = f"Dry run of {count:,} steps"
            if count >= 100_000:
                self.add_ratio(title, runners, "wall", 1.8 if count == 100_000 else 2)
                self.add_figure(
                    f"{title}: memory beyond the file", oprun,
                    lambda it, size=size, count=count:
                        f"{(it.memory() - size) / count:.0f} bytes for each step", "≤ 350 bytes")
            text.append(tables.table(
                title, f"The file has {size / 1e6:.1f} MB; the floor is libyaml's bare parse of it.",
                runners))
        return "\n".join(text)

    def expressions(self):
        count = 10_000 if self.quick else 100_000
        folder = self.bench.scratch / "language"
        pairs = [(*pair, self.rounds) for pair in language.write(folder, count)]
        pairs.append(("A matrix of 4,096 instances", "matrix.yml", "written.yml", 1, 51))
        text = []
        for title, file, base, goal, rounds in pairs:
            runners = [Runner("floor", [self.oprun, "validate", base], folder, True),
                       Runner("oprun", [self.oprun, "validate", file], folder)]
            self.bench.measure(runners, rounds)
            self.add_ratio(title, runners, "wall", goal)
            text.append(tables.table(
                title, "`validate`; the floor is the same file with the values written out.",
                runners))
        return "\n".join(text)

    def start(self):
        folder = self.bench.scratch / "start"
        folder.mkdir(exist_ok=True)
        runners = [Runner("floor", [self.bench.program("nothing")], folder, True)]
        runners += [Runner(name, [program, "--version"], folder)
                    for name, program in (("oprun", self.oprun), ("make", "make"), ("ninja", "ninja"))]
        self.bench.measure(runners, 15 if self.quick else 51)
        self.add_figure("`oprun --version`", runners[1], wall, "≤ 1.2 ms")
        return tables.table("Start", "`--version`; the floor is a static C program that does nothing.",
                            runners)

    def one_step(self):
        runners = self.runners("one", workload.independent(1, DIRECT), 2, ["-d"])
        self.bench.measure(runners, 15 if self.quick else 51)
        self.add_figure("One step", runners[1], wall, "≤ 3.5 ms")
        _, oprun, make, _ = runners
        if oprun.samples and make.samples:
            self.figures.append(("One step", f"{oprun.ratio(make, 'wall'):.2f} × make", "≤ 1.2 × make"))
        fresh = tables.table("One step", "The whole run of one step, `/bin/true`, in a fresh directory.", runners)
        return fresh + "\n" + self.one_step_again()

    def one_step_again(self):
        earlier = 100
        runners = self.runners("one-again", workload.independent(1, DIRECT), 2, ["-d"])
        for runner in runners:
            runner.keeps_state = True
        for _ in range(earlier):
            subprocess.run(runners[1].command, cwd=runners[1].folder, capture_output=True, check=True)
        self.bench.measure(runners, 15 if self.quick else 51)
        return tables.table(
            "One step, again", f"The same after {earlier} earlier runs, which oprun and ninja remember.", runners)

    def makespan(self):
        shapes = [("a chain hidden in the middle", workload.hidden_chain),
                  ("one long step hidden in the middle", workload.hidden_giant),
                  ("a random graph, few long steps", workload.scattered)]
        note = ("Steps that sleep, four at once. The floor knows the durations and first starts the "
                "step with the longest remaining path; oprun knows them from `expected:`.")
        return "\n".join(
            self.graph_row(f"Makespan: {title}", note, shape(), 4, ["-r"], 5, [("wall", 1.01)], False)
            for title, shape in shapes)

    def output(self):
        count, length = (50_000, 100) if self.quick else (500_000, 100)
        lines = self.bench.program("lines")
        steps = [workload.Step(f"s{i}", f"{lines} print {i} {count} {length}") for i in range(8)]
        runners = self.runners("output", steps, 2, ["-g"])
        runners[2].command.insert(2, "-O")
        for runner in runners:
            runner.check = lambda output: self.is_kept_together(output, count * len(steps), length)
        self.bench.with_memory_in_use(runners, 1024)
        self.bench.measure(runners, 5)
        title = f"Output: 8 × {count * length // 1_000_000} MB"
        self.add_ratio(title, runners, "wall", 0.9)
        self.add_figure(f"{title}: peak memory", runners[1], memory, "≤ 10 MB")
        return tables.table(
            title,
            "Two at once, into a file. Every line must arrive whole and in order, each step's lines "
            "together. The floor collects the output in memory. make runs with `-O`. Before "
            "each run, a file of 1 GB is written and removed: a virtual machine gives free memory back to its "
            "host, and whoever needs it first waits for it.", runners)

    def small_output(self):
        count = 100 if self.quick else 1000
        steps = [workload.Step(f"s{i}", "/usr/bin/seq 100") for i in range(count)]
        runners = self.runners("small-output", steps, 2, ["-dg"])
        runners[2].command.insert(2, "-O")
        # The least for a runner that does what oprun must: sessions, and a log of each step.
        command = [self.bench.program("floor"), "-dls", "2", "graph"]
        runners.append(
            Runner("floor, sessions, logs", command, runners[0].folder, False, len(steps)))
        for runner in runners:
            runner.check = lambda output: self.holds_sequences(output, count)
        self.bench.measure(runners, self.rounds)
        title = f"Output: {count:,} × 100 lines"
        oprun, make = runners[1], runners[2]
        if oprun.samples and make.samples:
            self.figures.append(
                (title, f"{oprun.ratio(make, 'wall'):.2f} × make -O", "≤ 0.95 × make -O"))
        return tables.table(
            title,
            "Two at once, each prints the numbers to 100. Each step's lines must arrive together. The "
            "floor collects the output in memory, oprun also keeps a log of each step, as the last row does. "
            "make runs with `-O`.",
            runners)

    def holds_sequences(self, output, count):
        text = "".join(f"{i}\n" for i in range(1, 101))
        found = output.read_text(errors="replace").count(text)
        return None if found == count else f"{found} of {count} outputs whole"

    def is_kept_together(self, output, count, length):
        found = subprocess.run([self.bench.program("lines"), "check", output, str(length)],
                               capture_output=True, text=True, check=True).stdout
        whole, torn, changes = map(int, found.split())
        if (whole, torn, changes) == (count, 0, 8):
            return None
        return f"{whole} of {count} lines whole, {torn} torn, in {changes} pieces"

    def masking(self):
        folder = self.bench.scratch / "masking"
        megabytes = 64 if self.quick else 1024
        expected, size = masking.write(folder, megabytes)
        runners = [
            Runner("floor", ["sh", "-c", "rm -f copy; cat text | cat >copy"], folder, True),
            Runner("oprun, 20 secrets", [self.oprun, "run", "with.yml"], folder,
                   check=lambda output: masking.problem(folder, expected)),
            Runner("oprun, none", [self.oprun, "run", "without.yml"], folder),
        ]
        for runner in runners[1:]:
            runner.command += ["--output", "quiet"]
        self.bench.with_memory_in_use(runners, 2048)
        self.bench.measure(runners, self.rounds)
        title = f"Masking {megabytes:,} MB"
        self.add_figure(
            title, runners[1], lambda it: f"{size / 1e6 / it.wall():,.0f} MB/s", "≥ 200 MB/s")
        self.add_figure(f"{title}: peak memory", runners[1], memory, "≤ 12 MB")
        return tables.table(
            title,
            "A step prints a text of which every 500th line contains one of 20 secrets, and its log is "
            "written. The floor copies that text through a pipe. Every secret must be masked. Before each run, a "
            "file of 2 GB is written and removed.", runners)

    def watched(self):
        count = 1000 if self.quick else 10_000
        runners = self.bench.measure(
            observing.displays(self.bench, self.oprun, count), self.rounds)
        title = f"{count:,} steps in a terminal"
        for runner, goal in zip(runners[1:], ("1.02", "1.03")):
            if runner.samples and runners[0].samples:
                ratio = runner.ratio(runners[0], "processor")
                self.figures.append((f"{title}: {runner.name}", f"{ratio:.2f} × quiet, processor time",
                                     f"≤ {goal} × quiet"))
        answer, idle = observing.answers(self.bench, self.oprun, count)
        self.figures.append((f"A status of {count:,} steps", f"{answer:.1f} ms", "≤ 5 ms"))
        self.figures.append(("A second of a run that waits", f"{idle:.2f} ms", "nothing"))
        return tables.table(
            title, "Each step is `/bin/true`, two at once. The events go into a file.", runners)

    def recorded(self):
        count = 1000 if self.quick else 10_000
        folder = observing.record(self.bench, self.oprun, count)
        runners = self.bench.measure(observing.views(self.oprun, folder, count), 2 * self.rounds + 1)
        title = f"A recorded run of {count:,} steps"
        self.add_figure(f"{title}: analysis", runners[1], wall, "≤ 200 ms")
        reports = [runner for runner in runners if runner.name.startswith("report") and runner.samples]
        total = sum(runner.wall() for runner in reports)
        self.figures.append((f"{title}: {len(reports)} reports", tables.time(total), "≤ 500 ms"))
        self.add_figure(f"{title}: completion of a step", runners[-1], wall, "≤ 30 ms")
        return tables.table(
            title, "A layered graph, looked at when it is over. Each report replays the run.", runners)

    def cache(self):
        return caching.measure(self)

    def hashing(self):
        return caching.hashing(self)

    def restoring(self):
        return caching.restoring(self)

    def confining(self):
        return caching.confining(self)

    def history(self):
        return caching.history(self)


def wall(runner):
    return tables.time(runner.wall())


def memory(runner):
    return tables.megabytes(runner.memory())


# The short runs come first, while the file system is quiet.
ROWS = ["start", "one_step", "small_output", "independent", "chain", "layered", "dry_run", "expressions", "makespan",
        "output", "masking", "watched", "recorded", "cache",
        "hashing", "restoring", "confining", "history"]
# Rows that leave gigabytes, in few files. What the others leave stays until the end: after many files were removed, ext4
# is slow to make new ones for minutes.
LARGE_ROWS = {"output", "masking", "hashing", "restoring"}


def verify(bench, oprun):
    """Every runner runs every step exactly once: each writes its name into a file."""
    for name, shape in (("independent", workload.independent), ("chain", workload.chain),
                        ("layered", workload.layered)):
        steps = shape(300, "")
        for step in steps:
            step.command = f"echo {step.name} >>log"
        rows = Rows(bench, oprun, True)
        for runner in rows.runners(f"verify-{name}", steps, 4):
            log = runner.folder / "log"
            log.unlink(missing_ok=True)
            _, problem = bench.sample(runner)
            if problem:
                sys.exit(f"bench: {runner.name} on {name}: {problem}")
            seen = log.read_text().split()
            if sorted(seen) != sorted(step.name for step in steps):
                sys.exit(f"bench: {runner.name} ran {len(seen)} of {len(steps)} steps ({name})")
            place = {name: i for i, name in enumerate(seen)}
            if any(place[steps[need].name] > place[step.name]
                   for step in steps for need in step.needs):
                sys.exit(f"bench: {runner.name} ran a step before what it needs ({name})")


HEAD = """# Benchmarks

These figures compare oprun with make, ninja and the *floor*: small C programs (in `Benchmarks/`)
that do the minimum of work. `Scripts/bench` wrote this page; run it to get your own. *floor, in
sessions* is the minimum for a runner that gives each command a session of its own, as oprun does;
make and ninja do not.

Wall time and processor time are medians, ratios are medians of the ratios within each round; the
runners take turns. Processor time and memory include the steps. Before measuring, every runner
proves that it runs each step once and in order; in every run the number of processes, the lines
of a dry run, and each byte of output are checked.

"""


def main():
    options = argparse.ArgumentParser(prog="Scripts/bench", description=__doc__)
    options.add_argument("--quick", action="store_true", help="smaller sizes")
    options.add_argument("--only", metavar="ROW,...", help=f"of {', '.join(ROWS)}")
    options.add_argument("--output", metavar="FILE", help="where to write the tables")
    options.add_argument("--oprun", required=True, help=argparse.SUPPRESS)
    options.add_argument("--programs", required=True, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    names = chosen.only.split(",") if chosen.only else ROWS
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        options.error(f"unknown row '{unknown[0]}', wanted one of: {', '.join(ROWS)}")

    place = tempfile.mkdtemp(prefix="oprun-bench-")
    bench = Bench(chosen.programs, place)
    try:
        verify(bench, chosen.oprun)
        head = HEAD + tables.machine([chosen.oprun, "make", "ninja"])
        print(head)
        rows = Rows(bench, chosen.oprun, chosen.quick)
        parts = []
        for name in names:
            os.sync()  # So that no row waits for what another one has written.
            before = set(bench.scratch.iterdir())
            parts.append(getattr(rows, name)())
            print(parts[-1], flush=True)
            if name in LARGE_ROWS:
                bench.clear(before)
        figures = tables.figures(rows.figures)
        print(figures)
        if chosen.output:
            text = "\n".join([head, figures, "## Measurements\n", *parts])
            Path(chosen.output).write_text(text, encoding="utf8")
    finally:
        shutil.rmtree(place)
        bench.captured.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
