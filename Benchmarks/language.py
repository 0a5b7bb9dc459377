"""Files with and without expressions, and a matrix beside the same steps written out."""


def write(folder, count):
    """Pairs of files that say the same; returns their names."""
    folder.mkdir(exist_ok=True)
    word = "${{ params.word }}"
    for name, text in (("plain", "module"), ("expressions", word)):
        lines = ["params: {word: module}", "steps:"]
        for number in range(count):
            lines += [f"  - id: step_{number}", f"    run: cc -O2 -c src/{text}_{number}.c"]
            if number:
                lines.append(f"    depends_on: [step_{number - 1}]")
        (folder / f"{name}.yml").write_text("\n".join(lines) + "\n")
    numbers = list(range(64))
    (folder / "matrix.yml").write_text(
        f"steps:\n  - id: t\n    matrix: {{a: {numbers}, b: {numbers}}}\n"
        "    run: cc -c ${{ matrix.a }}.c ${{ matrix.b }}.c\n")
    lines = ["steps:"]
    for a in numbers:
        for b in numbers:
            lines += [f"  - id: t_{a}_{b}", f"    run: cc -c {a}.c {b}.c"]
    (folder / "written.yml").write_text("\n".join(lines) + "\n")
