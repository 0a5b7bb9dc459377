"""Files with and without expressions, and a matrix beside the same steps written out."""

WORD = "${{ params.word }}"

# What a step says with an expression, the same without, and the ratio to reach: `{}` is its number,
# `{before}` that of the step before. The first step has no expression.
FORMS = {
    "with an expression each": (f"    run: cc -O2 -c src/{WORD}_{{}}.c",
                                "    run: cc -O2 -c src/module_{}.c", 1.6),
    "with an expression in quotes each": (f"    run: echo \"{WORD} {{}}\"",
                                          "    run: echo \"module {}\"", 1.6),
    "with an expression in two lines each": (f"    run: |\n      echo {WORD}\n      cc -c {{}}.c",
                                             "    run: |\n      echo module\n      cc -c {}.c", 1.6),
    "with a condition each": ("    run: cc -c {}.c\n    if: params.word == 'module'",
                              "    run: cc -c {}.c", 1.8),
    "with a late output each": (
        "    run: cc -c ${{ steps.step_{before}.outputs.word }}_{}.c\n    outputs: {word: string}",
        "    run: cc -c module_{}.c\n    outputs: {word: string}", 2),
}


def write_form(path, count, form, first):
    lines = ["params: {word: module}", "steps:"]
    for number in range(count):
        step = form if number else first
        step = step.replace("{}", str(number)).replace("{before}", str(number - 1))
        lines += [f"  - id: step_{number}", step]
        if number:
            lines.append(f"    depends_on: [step_{number - 1}]")
    path.write_text("\n".join(lines) + "\n")


def write(folder, count):
    """Pairs of files that say the same; returns a title, their names and a goal for each."""
    folder.mkdir(exist_ok=True)
    pairs = []
    for number, (title, (expression, plain, goal)) in enumerate(FORMS.items()):
        names = [f"{kind}-{number}.yml" for kind in ("expressions", "plain")]
        for name, form in zip(names, (expression, plain)):
            write_form(folder / name, count, form, plain)
        pairs.append((f"{count:,} steps {title}", *names, goal))
    numbers = list(range(64))
    (folder / "matrix.yml").write_text(
        f"steps:\n  - id: t\n    matrix: {{a: {numbers}, b: {numbers}}}\n"
        "    run: cc -c ${{ matrix.a }}.c ${{ matrix.b }}.c\n")
    lines = ["steps:"]
    for a in numbers:
        for b in numbers:
            lines += [f"  - id: t_{a}_{b}", f"    run: cc -c {a}.c {b}.c"]
    (folder / "written.yml").write_text("\n".join(lines) + "\n")
    return pairs
