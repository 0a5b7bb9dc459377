"""What is measured: lists of steps, written in the format of each runner."""

import random
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Step:
    name: str
    command: str
    needs: list = field(default_factory=list)  # indices of earlier steps
    seconds: float = 0.0  # how long it takes, where a runner may know


# ------------------------------------------------------------------------------------- shapes


def independent(count, command):
    return [Step(f"s{i}", command) for i in range(count)]


def chain(count, command):
    return [Step(f"s{i}", command, [i - 1] if i else []) for i in range(count)]


def layered(count, command, layers=50):
    """Each step needs one to four steps of the layer before."""
    dice = random.Random(7)
    width = max(1, count // layers)
    steps = []
    for i in range(count):
        first = (i // width - 1) * width
        above = range(first, first + width) if first >= 0 else range(0)
        needs = sorted(dice.sample(above, min(len(above), dice.randint(1, 4))))
        steps.append(Step(f"s{i}", command, needs))
    return steps


def sleeping(durations, needs=None):
    needs = needs or {}
    return [
        Step(f"s{i}", f"sleep {seconds}", needs.get(i, []), seconds)
        for i, seconds in enumerate(durations)
    ]


def hidden_chain():
    """Short steps, and in the middle of the file a chain that takes as long as all of them."""
    durations = [0.15] * 24 + [0.3] * 8 + [0.15] * 24
    return sleeping(durations, {i: [i - 1] for i in range(25, 32)})


def hidden_giant():
    """Short steps, and in the middle of the file a single long one."""
    return sleeping([0.1] * 30 + [2.0] + [0.1] * 30)


def scattered():
    """A random graph: many short steps, a few long ones.

    Of 60 seeds the one where the order matters most: starting what is listed first takes 1.27 times
    as long as starting what has the longest way to go. In the median it is 1.06.
    """
    dice = random.Random(25)
    durations = [round(min(1.5, max(0.03, dice.lognormvariate(-2, 1.1))), 3) for _ in range(60)]
    needs = {i: sorted(dice.sample(range(max(0, i - 18), i), min(i, dice.choice([0, 1, 1, 2, 3]))))
             for i in range(60)}
    return sleeping(durations, needs)


def ranks(steps):
    """For each step the time from its start to the end of all that follows from it."""
    rank = [step.seconds or 1.0 for step in steps]
    for i in range(len(steps) - 1, -1, -1):
        for need in steps[i].needs:
            own = steps[need].seconds or 1.0
            rank[need] = max(rank[need], own + rank[i])
    return rank


# ------------------------------------------------------------------------------------ formats


def write(steps, folder, width):
    """Writes the workload for every runner into the folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pipeline.yml").write_text(pipeline(steps, width))
    (folder / "build.ninja").write_text(ninja(steps))
    (folder / "Makefile").write_text(makefile(steps))
    (folder / "graph").write_text(graph(steps))


def pipeline(steps, width):
    lines = [f"max_parallel: {width}", "steps:"]
    for step in steps:
        lines.append(f"  - id: {step.name}")
        lines.append(f'    run: "{step.command}"')
        if step.needs:
            lines.append(f"    depends_on: [{', '.join(steps[i].name for i in step.needs)}]")
        if step.seconds:
            lines.append(f"    expected: {round(step.seconds * 1000)}ms")
    return "\n".join(lines) + "\n"


def ninja(steps):
    lines = ["rule run", "  command = $command"]
    for step in steps:
        lines.append(f"build {step.name}: run {' '.join(steps[i].name for i in step.needs)}".rstrip())
        lines.append(f"  command = {step.command}")
    return "\n".join(lines) + "\n"


def makefile(steps):
    names = " ".join(step.name for step in steps)
    lines = ["MAKEFLAGS += --no-builtin-rules", f".PHONY: all {names}", f"all: {names}"]
    for step in steps:
        lines.append(f"{step.name}: {' '.join(steps[i].name for i in step.needs)}".rstrip())
        lines.append(f"\t{step.command}")
    return "\n".join(lines) + "\n"


def graph(steps):
    lines = (f"{rank:g}\t{' '.join(map(str, step.needs))}\t{step.command}\n"
             for step, rank in zip(steps, ranks(steps)))
    return "".join(lines)
