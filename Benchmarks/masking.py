"""A step that prints a lot of text with secrets in it, and a run that must mask them."""

import base64
import random
import subprocess

WORDS = ("Compiling main.swift error: warning linking target /usr/lib/x86_64 0x7fff test passed in "
         "0.123s the file INFO 2026-04-02T10:15:02Z").split()


def write(folder, megabytes, secret_count=20):
    """Writes the text, the secrets, and a pipeline with and without them; returns how many lines of
    the text hold a secret, and how many bytes it has."""
    dice = random.Random(3)
    folder.mkdir(parents=True, exist_ok=True)
    secrets = [base64.b64encode(dice.randbytes(24)).decode() for _ in range(secret_count)]
    lines, size, found = [], 0, 0
    while size < 16 << 20:
        line = " ".join(dice.choice(WORDS) for _ in range(dice.randint(4, 14)))
        if dice.random() < 0.002:
            line += f" token={dice.choice(secrets)}"
            found += 1
        lines.append(line)
        size += len(line) + 1
    part = ("\n".join(lines) + "\n").encode()
    copies = max(1, (megabytes << 20) // len(part))
    with open(folder / "text", "wb") as text:
        for _ in range(copies):
            text.write(part)
    steps = "steps:\n  - id: a\n    log_limit: 1T\n    run: cat text\n"
    (folder / "without.yml").write_text(steps)
    declared = "secrets:\n"
    for number, secret in enumerate(secrets):
        (folder / f"secret{number}").write_text(secret + "\n")
        declared += f"  - {{name: S{number}, from: file, path: secret{number}}}\n"
    (folder / "with.yml").write_text(declared + steps)
    return copies * found, copies * len(part)


def problem(folder, expected):
    """What is wrong with the log of the last run; None if every secret was masked."""
    log = next(folder.glob(".oprun/runs/*/a.1.log"))
    masked = count(log, "token=***")
    left = count(log, (folder / "secret0").read_text().strip())
    return None if (masked, left) == (expected, 0) else f"{masked} of {expected} lines are masked"


def count(path, text):
    found = subprocess.run(["grep", "-cF", text, path], capture_output=True, text=True, check=False)
    return int(found.stdout)
