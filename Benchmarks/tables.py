"""Measurements as Markdown."""

import os
import platform
import subprocess


def table(title, note, runners):
    """One table: each runner beside the floor, the first of the runners that is one."""
    floor = next(runner for runner in runners if runner.is_floor)
    lines = [f"### {title}", "", note, "",
             "| runner | wall | CPU | peak memory | wall × floor | CPU × floor |",
             "|---|---:|---:|---:|---:|---:|"]
    for runner in runners:
        if runner.problem:
            lines.append(f"| {runner.name} | did not finish: {runner.problem} | | | | |")
            continue
        name = f"*{runner.name}*" if runner.is_floor else runner.name
        lines.append(
            f"| {name} | {time(runner.wall())} | {time(runner.processor())} "
            f"| {megabytes(runner.memory())} | {runner.ratio(floor, 'wall'):.2f} "
            f"| {runner.ratio(floor, 'processor'):.2f} |")
    return "\n".join(lines) + "\n"


def figures(rows):
    """What was measured beside what was aimed at."""
    lines = ["## Figures", "", "| what | measured | goal |", "|---|---:|---:|"]
    lines += [f"| {what} | {measured} | {goal} |" for what, measured, goal in rows]
    return "\n".join(lines) + "\n"


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


def time(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def machine(programs):
    """What the figures were measured on, and with which programs."""
    lines = [f"- {os.cpu_count()} processors ({processor()}), Linux {platform.release()}"]
    for program in programs:
        found = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
        version = (found.stdout or found.stderr).strip().splitlines()
        name = os.path.basename(program)
        text = version[0] if version else "?"
        lines.append(f"- {text if name.lower() in text.lower() else f'{name} {text}'}")
    return "\n".join(lines) + "\n"


def processor():
    with open("/proc/cpuinfo", encoding="utf8") as information:
        names = [line.split(":")[1].strip() for line in information if line.startswith("model name")]
    return names[0] if names else "unknown"
