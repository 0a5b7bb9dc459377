"""A run that is watched, asked and looked at afterwards."""

import json
import random
import socket
import statistics
import subprocess
import time
from pathlib import Path

import workload
from measuring import Runner

REPORTS = ["html", "markdown", "junit", "trace", "otlp", "prometheus"]


def displays(bench, oprun, count):
    """The same run with and without a display and a stream of events, each in a terminal."""
    folder = bench.scratch / "observing"
    workload.write(workload.independent(count, "/bin/true"), folder, 2)
    run = [bench.program("terminal"), oprun, "run", "pipeline.yml", "--output"]
    return [
        Runner("quiet", [*run, "quiet"], folder, True, count),
        Runner("live", [*run, "live"], folder, False, count),
        Runner("quiet, with events", [*run, "quiet", "--events", "events"], folder, False, count),
    ]


def record(bench, oprun, count):
    """Runs a layered graph once, so that it can be looked at; returns its folder."""
    folder = bench.scratch / "recorded"
    steps = workload.layered(count, "/usr/bin/seq 3")
    workload.write(steps, folder, 4)
    subprocess.run([oprun, "run", "--output", "quiet", "--state-dir", "state", "pipeline.yml"],
                   cwd=folder, check=True)
    return folder


def views(oprun, folder, count):
    """What looks at the run that was recorded."""
    state = ["--state-dir", "state"]
    last = f"s{random.Random(3).randrange(count // 10)}"
    runners = [Runner("show", [oprun, "show", *state], folder, True),
               Runner("analyze", [oprun, "analyze", *state], folder)]
    runners += [Runner(f"report {format}", [oprun, "report", "--format", format, *state], folder)
                for format in REPORTS]
    runners.append(Runner("completion of a step id",
                          [oprun, "__complete", "run", "pipeline.yml", "--only", last], folder))
    return runners


def answers(bench, oprun, count, rounds=51):
    """Milliseconds until a run of so many steps has answered, and those of its processor in a second
    without a question."""
    folder = bench.scratch / "asked"
    workload.write(workload.independent(count, "/bin/sleep 600"), folder, 4)
    run = subprocess.Popen([oprun, "run", "--output", "quiet", "pipeline.yml"], cwd=folder,
                           stderr=subprocess.DEVNULL)
    try:
        path = awaited(folder)
        times = [ask(path) for _ in range(rounds)]
        before = processor_time(run.pid)
        time.sleep(1)
        return statistics.median(times) * 1000, (processor_time(run.pid) - before) / 1e6
    finally:
        run.terminate()
        run.wait()


def awaited(folder):
    """The path of the socket of the run, once it answers."""
    for _ in range(1000):
        for path in Path(folder).glob(".oprun/runs/*/@control"):
            try:
                ask(path)
                return path
            except OSError:
                pass
        time.sleep(0.01)
    raise SystemExit("bench: the run has no socket")


def ask(path):
    """Asks for the status of the run; returns seconds."""
    start = time.perf_counter()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(b'{"protocol":1,"request":"status"}\n')
        answer = b""
        while piece := client.recv(1 << 16):
            answer += piece
    elapsed = time.perf_counter() - start
    lines = answer.splitlines()
    if not lines or not json.loads(lines[0])["ok"] or lines[-1] != b'{"complete":true}':
        raise SystemExit(f"bench: not a status: {answer[:200]!r}")
    return elapsed


def processor_time(process):
    """Nanoseconds, without those of its children."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0])
