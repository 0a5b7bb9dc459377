"""Measures steps in Slurm on a cluster of virtual nodes, beside what Slurm does by itself.

Started by Scripts/bench slurm. Starts the cluster and stops it whatever happens.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "Scripts" / "slurm"
LAYERS, WIDTH, PARENTS = 10, 100, (0, 7, 13)
TICKS = os.sysconf("SC_CLK_TCK")


def graph(layers, width):
    """The steps of a layered graph, as (name, parents)."""
    for layer in range(layers):
        for index in range(width):
            parents = [f"s{layer - 1}_{(index + p) % width}" for p in PARENTS] if layer else []
            yield f"s{layer}_{index}", sorted(set(parents))


def pipeline(folder, layers, width, head=""):
    lines = [head, "steps:"] if head else ["steps:"]
    for name, parents in graph(layers, width):
        lines.append(f"  - {{id: {name}, run: 'echo {name} >>order', depends_on: [{', '.join(parents)}]}}")
    (folder / "p.yml").write_text("\n".join(lines) + "\n")


def check(folder, layers, width):
    """Every step ran once, after its parents."""
    order = (folder / "order").read_text().split()
    place = {name: i for i, name in enumerate(order)}
    wrong = [n for n, ps in graph(layers, width) if any(place.get(p, 1 << 60) > place.get(n, -1) for p in ps)]
    if len(order) != layers * width or len(place) != len(order) or wrong:
        sys.exit(f"bench: {len(order)} runs of {layers * width} steps, {len(wrong)} out of order")
    (folder / "order").unlink()


class Cluster:
    def __init__(self, oprun):
        self.oprun = oprun
        self.place = Path(tempfile.mkdtemp(prefix="oprun-slurm-bench-"))
        offset = os.getpid() % 400 * 40
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_"))}
        self.environment |= {"OPRUN_SLURM": str(self.place / "cluster"), "NODES": "4",
                             "CTLPORT": str(40000 + offset // 2), "NODEPORT": str(40010 + offset // 2),
                             "EXTRA_CONF": "MaxJobCount=30000\nMaxArraySize=10001",
                             "PATH": os.environ["PATH"] + ":/usr/sbin"}

    def __enter__(self):
        (self.place / "cluster").mkdir()
        text = subprocess.run([HERE / "start.sh"], env=self.environment, check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        self.environment["SLURM_CONF"] = re.search(r"SLURM_CONF=(\S+)", text)[1]
        return self

    def __exit__(self, *_):
        subprocess.run([HERE / "stop.sh", "--purge"], env=self.environment, check=False)
        shutil.rmtree(self.place, ignore_errors=True)

    def folder(self, name):
        folder = self.place / name
        folder.mkdir()
        return folder

    def run(self, words, folder, **more):
        began = time.monotonic()
        subprocess.run(words, cwd=folder, env=self.environment | more, check=True,
                       stdout=subprocess.DEVNULL, timeout=600)
        return time.monotonic() - began

    def text(self, *words):
        return subprocess.run(words, env=self.environment, check=True, text=True, stdout=subprocess.PIPE).stdout

    def until_empty(self):
        while self.text("squeue", "-h", "--me").strip():
            time.sleep(0.2)


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def native(cluster, layers, width):
    """The graph as jobs with dependencies, submitted one after the other."""
    folder = cluster.folder(f"native-{time.monotonic_ns()}")
    began, jobs = time.monotonic(), {}
    for name, parents in graph(layers, width):
        words = ["sbatch", "--parsable", "--output=/dev/null", f"--wrap=echo {name} >>order"]
        if parents:
            words.insert(1, "--dependency=afterok:" + ":".join(jobs[p] for p in parents))
        jobs[name] = subprocess.run(words, cwd=folder, env=cluster.environment, check=True, text=True,
                                    stdout=subprocess.PIPE).stdout.strip()
    while sum(1 for _ in open(folder / "order")) < layers * width if (folder / "order").exists() else True:
        time.sleep(0.1)
    seconds = time.monotonic() - began
    check(folder, layers, width)
    cluster.until_empty()
    return seconds


def as_jobs(cluster, layers, width):
    """The same with oprun, at the usual rate of submissions; also the calls of squeue."""
    folder = cluster.folder(f"jobs-{time.monotonic_ns()}")
    pipeline(folder, layers, width, "executor: slurm\nslurm: {mode: job}")
    tools = folder / "bin"
    tools.mkdir()
    for tool in ("squeue", "sbatch"):
        real = shutil.which(tool)
        (tools / tool).write_text(f"#!/bin/sh\necho >>{folder}/calls.{tool}\nexec {real} \"$@\"\n")
        (tools / tool).chmod(0o755)
    seconds = cluster.run([cluster.oprun, "run", "p.yml", "--output", "quiet"], folder,
                          PATH=f"{tools}:{cluster.environment['PATH']}")
    check(folder, layers, width)
    cluster.until_empty()
    calls = {tool: len((folder / f"calls.{tool}").read_text()) if (folder / f"calls.{tool}").exists() else 0
             for tool in ("squeue", "sbatch")}
    return seconds, calls


def in_allocation(cluster, nodes, layers, width, local=False):
    folder = cluster.folder(f"allocation-{time.monotonic_ns()}")
    pipeline(folder, layers, width, "executor: slurm\nmax_parallel: 8" if nodes == 1 else "executor: slurm")
    run = f"{cluster.oprun} run p.yml --output quiet" + (" --executor local" if local else "")
    script = f"S=$(date +%s.%N); {run} || exit 1; echo $(date +%s.%N) $S >times"
    cluster.run(["sbatch", "--quiet", "--wait", f"--nodes={nodes}", "--exclusive", "--output=out",
                 f"--wrap={script}"], folder)
    end, start = map(float, (folder / "times").read_text().split())
    check(folder, layers, width)
    return end - start


def srun_rate(cluster, count, at_once=8):
    """Plain steps in an allocation of four nodes."""
    folder = cluster.folder(f"srun-{time.monotonic_ns()}")
    script = (f"S=$(date +%s.%N); seq {count} | xargs -P {at_once} -I@ srun --exact -N1 -n1 -c1 --quiet true; "
              "echo $(date +%s.%N) $S >times")
    cluster.run(["sbatch", "--quiet", "--wait", "--nodes=4", "--exclusive", "--output=out",
                 f"--wrap={script}"], folder)
    end, start = map(float, (folder / "times").read_text().split())
    return count / (end - start)


def processor_time(root):
    """Seconds of processor time of a process, its children, and what these have called."""
    total = 0
    for process in [root, *map(int, Path(f"/proc/{root}/task/{root}/children").read_text().split())]:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        total += sum(map(int, fields[11:15] if process != root else fields[11:13]))
    return total / TICKS


def at_rest(cluster, count, seconds):
    """The processor time of a run whose jobs all wait, as a part of one core."""
    folder = cluster.folder("rest")
    blocker = cluster.text("sbatch", "--parsable", "--nodes=4", "--exclusive", "--output=/dev/null",
                           "--wrap=sleep 3000").strip()
    # A matrix has at most 4,096 instances.
    lines = ["executor: slurm", f"slurm: {{mode: job, max_queued: {count}, submit_rate: 100/s}}", "steps:"]
    for first in range(0, count, 2000):
        numbers = ", ".join(map(str, range(first, min(count, first + 2000))))
        lines.append(f"  - {{id: a{first}, run: 'true', matrix: {{n: [{numbers}]}}}}")
    (folder / "p.yml").write_text("\n".join(lines) + "\n")
    run = subprocess.Popen([cluster.oprun, "run", "p.yml", "--output", "quiet"], cwd=folder,
                           env=cluster.environment)
    try:
        while len(cluster.text("squeue", "-h", "-r", "--me").splitlines()) <= count:
            time.sleep(1)
        time.sleep(20)
        before, began = processor_time(run.pid), time.monotonic()
        time.sleep(seconds)
        return (processor_time(run.pid) - before) / (time.monotonic() - began)
    finally:
        run.terminate()
        run.wait(120)
        subprocess.run(["scancel", blocker], env=cluster.environment, check=False)
        cluster.until_empty()


def main():
    options = argparse.ArgumentParser(prog="Scripts/bench slurm", description=__doc__)
    options.add_argument("--quick", action="store_true", help="smaller sizes")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--oprun", required=True, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    layers, width = (5, 20) if chosen.quick else (LAYERS, WIDTH)
    rounds = 1 if chosen.quick else chosen.rounds
    print("| what | measured | goal |\n|---|---|---|", flush=True)

    def add(*row):
        print("| " + " | ".join(row) + " |", flush=True)

    with Cluster(os.path.abspath(chosen.oprun)) as cluster:
        by_slurm, by_oprun, calls = [], [], {}
        for _ in range(rounds):
            by_slurm.append(native(cluster, layers, width))
            seconds, calls = as_jobs(cluster, layers, width)
            by_oprun.append(seconds)
        ratio = median(by_oprun) / median(by_slurm)
        add(f"graph of {layers * width:,} as jobs", f"{median(by_oprun):.1f} s, native {median(by_slurm):.1f} s: {ratio:.2f} ×", "≤ 1.3 ×")
        minute = calls["squeue"] * 60 / max(60, by_oprun[-1])
        add("calls of squeue in a minute", f"{minute:.0f} (and {calls['sbatch']} of sbatch)", "≤ 15")
        here = median(in_allocation(cluster, 1, layers, width, local=True) for _ in range(rounds))
        one = median(in_allocation(cluster, 1, layers, width) for _ in range(rounds))
        add("allocation, one node", f"{one:.2f} s, local {here:.2f} s: {one / here:.2f} ×", "≤ 1.1 ×")
        four = median(layers * width / in_allocation(cluster, 4, layers, width) for _ in range(rounds))
        plain = median(srun_rate(cluster, layers * width // 5) for _ in range(rounds))
        add("allocation, four nodes", f"{four:.0f} steps/s, srun --exact {plain:.0f}/s", "≥ srun")
        count = 500 if chosen.quick else 10_000
        rest = at_rest(cluster, count, 20 if chosen.quick else 60)
        add(f"at rest, {count:,} jobs queued", f"{rest * 100:.2f} % of a core", "≤ 0.5 %")


if __name__ == "__main__":
    main()
