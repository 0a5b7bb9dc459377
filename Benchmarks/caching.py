"""Steps that are up to date, beside tools that look at times, and the cache's work beside the least of it."""

import os
import shutil
import sqlite3
import statistics
import subprocess

import tables
from measuring import Runner, fresh_folder

PIECE = os.urandom(1 << 20)


def write(folder, count):
    """Steps that copy a file each, for oprun, make and ninja."""
    for name in ("in", "out"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    pipeline, makefile, ninja = ["steps:"], [], ["rule copy", "  command = cp $in $out"]
    makefile.append("all: " + " ".join(f"out/{i}" for i in range(count)))
    for i in range(count):
        (folder / f"in/{i}").write_text(f"{i}\n")
        pipeline.append(f"  - {{id: s{i}, run: cp in/{i} out/{i}, "
                        f"cache: {{inputs: [in/{i}], outputs: [out/{i}], enforce: false}}}}")
        makefile.append(f"out/{i}: in/{i}\n\tcp $< $@")
        ninja.append(f"build out/{i}: copy in/{i}")
    (folder / "pipeline.yml").write_text("\n".join(pipeline) + "\n")
    (folder / "Makefile").write_text("\n".join(makefile) + "\n")
    (folder / "build.ninja").write_text("\n".join(ninja) + "\n")
    (folder / "files").write_text("".join(f"in/{i}\nout/{i}\n" for i in range(count)))


def peers(rows, folder):
    """Runners in folders of their own, each of which has done everything once."""
    commands = {
        "floor": [rows.bench.program("stats"), "files"],
        "oprun": [rows.oprun, "run", "pipeline.yml", "--output", "quiet"],
        "make": ["make", "-s"], "ninja": ["ninja", "--quiet"],
    }
    if shutil.which("samu"):
        commands["samurai"] = ["samu"]
    runners = []
    for name, command in commands.items():
        place = folder / name
        write(place, rows.size(10_000))
        if name == "floor":
            shutil.copytree(place / "in", place / "out", dirs_exist_ok=True)
        else:
            # Twice: files that are as new as what was noted about them are read again.
            for _ in range(3 if name == "oprun" else 1):
                subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
        runners.append(Runner(name, command, place, name == "floor", keeps_state=True))
    return runners


def unchanged(rows, runners, count):
    rows.bench.measure(runners, rows.rounds)
    title = f"Nothing to do in {count:,} steps with files"
    rows.add_ratio(title, runners, "wall", 1.8)
    return tables.table(
        title, "Each step copies a file. The floor is a C program that looks at every file.", runners)


def one_changed(rows, runners, count):
    for runner in runners:
        runner.samples.clear()

        def change(folder=runner.folder):
            with open(folder / "in/7", "a", encoding="utf8") as file:
                file.write("more\n")

        runner.prepare = change
    rows.bench.measure(runners, rows.rounds)
    oprun, ninja = runners[1], runners[3]
    title = f"One input of {count:,} changed"
    if oprun.samples and ninja.samples:
        rows.figures.append((title, f"{oprun.ratio(ninja, 'wall'):.2f} × ninja", "≤ 1 × ninja"))
    return tables.table(title, "The same, and one step runs.", runners)


def hashing(rows):
    folder = rows.bench.scratch / "hashing"
    folder.mkdir()
    files, megabytes = 8, rows.size(1024)
    for i in range(files):
        with open(folder / f"f{i}", "wb") as file:
            for _ in range(megabytes // files):
                file.write(PIECE)
    (folder / "files").write_text("".join(f"f{i}\n" for i in range(files)))
    inputs = [f"f{i}" for i in range(files)]
    for file, parts in (("one.yml", [", ".join(inputs)]), ("several.yml", inputs)):
        steps = [f"  - {{id: s{number}, run: 'true', cache: {{inputs: [{part}], enforce: false}}}}\n"
                 for number, part in enumerate(parts)]
        (folder / file).write_text("steps:\n" + "".join(steps))
    floor = Runner("floor", [rows.bench.program("stats"), "-h", "files"], folder, True)
    runners = [floor] + [
        Runner(f"oprun, {name}", [rows.oprun, "run", file, "--output", "quiet"], folder)
        for name, file in (("one step", "one.yml"), ("eight steps", "several.yml"))]
    rows.bench.measure(runners, rows.rounds)
    title = f"Hashing {megabytes:,} MB"
    for runner, goal in zip(runners[1:], ("≥ 0.80 × libcrypto", "≥ 1.60 × libcrypto")):
        if runner.samples:
            speed = floor.ratio(runner, "wall")
            rows.figures.append((f"{title}, {runner.name}", f"{speed:.2f} × libcrypto", goal))
    return tables.table(
        title, "Inputs that are not known yet. The floor hashes them with libcrypto on one processor.",
        runners)


def restoring(rows):
    folder = rows.bench.scratch / "restoring"
    folder.mkdir()
    files = rows.size(1000)
    (folder / "pipeline.yml").write_text(
        "steps:\n  - {id: s, run: cp -r made out, cache: {inputs: [], outputs: [out], enforce: false}}\n")
    (folder / "made").mkdir()
    for i in range(files):
        (folder / f"made/{i}").write_bytes(i.to_bytes(4, "big") + PIECE[4:])
    command = [rows.oprun, "run", "pipeline.yml", "--output", "quiet"]
    subprocess.run(command, cwd=folder, check=True)

    asides = []

    def remove():
        # Emptied and put aside: for minutes ext4 passes over every inode that was removed, one by one, whenever a
        # file is made, and the other processes that make one in the same directory wait for that.
        for file in os.scandir(folder / "out"):
            os.truncate(file.path, 0)
        asides.append(folder / f"aside-{len(asides)}")
        (folder / "out").rename(asides[-1])

    def problem(_):
        different = subprocess.run(["diff", "-rq", "made", "out"], cwd=folder, check=False).returncode
        return "another content" if different else None

    runners = [
        Runner("floor", ["cp", "--reflink=auto", "-r", "made", "out"], folder, True, keeps_state=True),
        Runner("oprun", command, folder, keeps_state=True)]
    for runner in runners:
        runner.prepare, runner.check = remove, problem
    rows.bench.measure(runners, 5 if rows.quick else 15)
    title = f"Restoring {files:,} files of 1 MB"
    if all(runner.samples for runner in runners):
        floor, oprun = (min(sample.wall for sample in runner.samples) for runner in runners)
        rows.figures.append((f"{title}: least wall time", f"{oprun / floor:.2f} × floor", "≤ 1.2 × floor"))
    return tables.table(
        title, "The floor is `cp --reflink=auto -r`, which checks nothing. A virtual machine gives free memory back to "
        "its host after a few seconds, and getting it again costs seven times as much as using it: either runner takes "
        "several times as long in the rounds that meet such memory. So the figure compares the least of each.", runners)


def confining(rows):
    count = rows.size(1000)
    # Not in /tmp: whatever lies beside the workspace has a rule in each step, and /tmp may hold hundreds of entries.
    place = rows.bench.programs / "confining"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    folder = fresh_folder(place)
    (folder / "in").mkdir()
    (folder / "out").mkdir()
    beside = sum(len(os.listdir(parent)) - 1 for parent in folder.parents)
    for i in range(count):
        (folder / f"in/{i}").write_text(f"{i}\n")
    kinds = {"no cache": "", "not confined": ", cache: {inputs: [in/%d], outputs: [out/%d], enforce: false}",
             "confined": ", cache: {inputs: [in/%d], outputs: [out/%d]}"}
    runners = []
    for name, cache in kinds.items():
        file = name.replace(" ", "-") + ".yml"
        steps = [f"  - {{id: s{i}, run: /bin/cp in/{i} out/{i}{cache.replace('%d', str(i))}}}\n" for i in range(count)]
        (folder / file).write_text("max_parallel: 1\nsteps:\n" + "".join(steps))
        command = [rows.oprun, "run", file, "--output", "quiet"] + (["--refresh"] if cache else [])
        runners.append(Runner(name, command, folder, not cache, count))
    rows.bench.measure(runners, rows.rounds)
    title = f"{count:,} steps that copy a file, one at a time"
    _, free, confined = runners
    if free.samples and confined.samples:
        for quantity, words in (("wall", "wall time"), ("processor", "processor time")):
            more = statistics.median(
                getattr(its, quantity) - getattr(other, quantity)
                for its, other in zip(confined.samples, free.samples)) / count
            rows.figures.append((f"Confinement of a step: {words}", f"{more * 1000:.2f} ms", "≤ 0.3 ms"))
    shutil.rmtree(place)
    note = f"Cached steps run again (`--refresh`). The floor has no `cache`. Beside the workspace lie {beside} entries."
    return tables.table(title, note, runners)


def history(rows):
    folder = rows.bench.scratch / "history"
    folder.mkdir()
    runs = rows.size(10_000)
    (folder / "pipeline.yml").write_text(
        "steps:\n" + "".join(f"  - {{id: s{i}, run: 'true'}}\n" for i in range(100)))
    subprocess.run([rows.oprun, "run", "pipeline.yml", "--output", "quiet"], cwd=folder, check=True)
    database = sqlite3.connect(folder / ".oprun/state.db")
    for table, key, more in (("run", "id", "name || '-' || n"), ("result", "run", None)):
        names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        values = ["n" if name == key else more if name == "name" else name for name in names]
        database.execute(
            f"WITH RECURSIVE numbers(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < {runs}) "
            f"INSERT INTO {table} SELECT {', '.join(values)} FROM {table}, numbers")
    database.commit()
    results = database.execute("SELECT count(*) FROM result").fetchone()[0]
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    size = os.path.getsize(folder / ".oprun/state.db")
    runners = [Runner("floor", [rows.oprun, "--version"], folder, True, keeps_state=True),
               Runner("oprun", [rows.oprun, "history"], folder, keeps_state=True)]
    rows.bench.measure(runners, rows.rounds)
    title = f"History of {runs:,} runs of 100 steps"
    rows.add_figure(title, runners[1], lambda it: tables.time(it.wall()), "≤ 50 ms")
    rows.figures.append(
        (f"{title}: database", f"{size / results:.0f} bytes for each result", "≤ 120 bytes"))
    return tables.table(title, "`history`; the floor is `--version`.", runners)


def measure(rows):
    folder = rows.bench.scratch / "cache"
    runners = peers(rows, folder)
    count = rows.size(10_000)
    return "\n".join([unchanged(rows, runners, count), one_changed(rows, runners, count)])
