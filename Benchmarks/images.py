"""Measures oprun-steps beside curl with vipsthumbnail or ImageMagick: the same images from an nginx on
loopback to 300 pixels. Prints Markdown. Started by Scripts/bench images, which builds everything first.
"""

import argparse
import os
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

MEGAPIXELS = [1, 2, 3, 4, 5, 6, 8, 10, 12]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the built oprun-steps")
    parser.add_argument("--decode", required=True, help="the built Benchmarks/decode.c")
    parser.add_argument("--count", type=int, default=1000, help="images (1000)")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each (1)")
    parser.add_argument("--folder", help="where images are made and kept for another time")
    parser.add_argument("--only", nargs="*", default=["small", "batch", "memory", "limit"])
    options = parser.parse_args()
    scratch = Path(options.folder or tempfile.mkdtemp(prefix="oprun-steps-"))
    try:
        measure(options, scratch)
    finally:
        if not options.folder:
            shutil.rmtree(scratch)


def measure(options, scratch):
    samples = make_images(scratch / "files", options.count)
    with Nginx(scratch) as nginx:
        bench = Bench(options, scratch, nginx.url, samples)
        print(f"{options.count} images, {sum(map(size, samples)) / 1e6:.0f} MB, "
              f"{os.cpu_count()} processors\n")
        if "small" in options.only:
            bench.small()
        if "batch" in options.only:
            bench.batch()
        if "memory" in options.only:
            bench.memory()
        if "limit" in options.only:
            bench.limit()


def size(path):
    return path.stat().st_size


# ------------------------------------------------------------------------------------- images

def make_images(folder, count):
    """Nine sizes in two formats, and of each as many copies as are wanted: no two are equal, since each
    has a comment of its own, so nobody can take one for another."""
    folder.mkdir(parents=True, exist_ok=True)
    bases = {}
    for megapixels in MEGAPIXELS:
        for ext in ("jpg", "png"):
            bases[megapixels, ext] = base_image(folder.parent / "bases", megapixels, ext)
    paths = []
    for number in range(count):
        ext = "png" if number % 5 == 4 else "jpg"
        megapixels = MEGAPIXELS[number % len(MEGAPIXELS)]
        path = folder / f"{number:05}.{ext}"
        if not path.exists():
            content = bases[megapixels, ext].read_bytes()
            path.write_bytes(with_comment(content, ext, f"image {number}".encode()))
        paths.append(path)
    return paths


def base_image(folder, megapixels, ext):
    """Clouds of several sizes, and in a photograph the grain of a sensor."""
    path = folder / f"{megapixels}.{ext}"
    if path.exists():
        return path
    folder.mkdir(exist_ok=True)
    width = round((megapixels * 1e6 * 4 / 3) ** 0.5)
    height = round(width * 3 / 4)

    def vips(*words):
        subprocess.run(["vips", *map(str, words)], check=True)

    parts = [folder / f"part{index}.v" for index in range(3)]
    for index, part in enumerate(parts):
        clouds, grain, scaled = (folder / f"{name}.v" for name in ("clouds", "grain", "scaled"))
        vips("perlin", clouds, width, height, "--cell-size", 64 << index, "--seed", megapixels + index)
        vips("linear", clouds, scaled, 100, 128)
        vips("gaussnoise", grain, width, height, "--sigma", 12 if ext == "jpg" else 0.4,
             "--seed", megapixels + index)
        sum_ = folder / "sum.v"
        vips("add", scaled, grain, sum_)
        vips("cast", sum_, part, "uchar")
    joined = folder / "joined.v"
    vips("bandjoin", " ".join(map(str, parts)), joined)
    vips("copy", joined, f"{path}[Q=85]" if ext == "jpg" else path, "--interpretation", "srgb")
    for left in folder.glob("*.v"):
        left.unlink()
    return path


def with_comment(content, ext, comment):
    if ext == "jpg":
        segment = b"\xff\xfe" + struct.pack(">H", len(comment) + 2) + comment
        return content[:2] + segment + content[2:]
    data = b"tEXt" + b"Comment\0" + comment
    chunk = struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))
    return content[:33] + chunk + content[33:]  # after the signature and IHDR


# ------------------------------------------------------------------------------------- server

class Nginx:
    """In the foreground, on a port that was free a moment ago."""

    def __init__(self, scratch):
        self.scratch = scratch
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        config = self.scratch / "nginx.conf"
        temporary = "".join(f"{kind}_temp_path tmp; " for kind in
                            ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        config.write_text(f"""
            daemon off; master_process off; pid nginx.pid; error_log stderr crit;
            events {{}}
            http {{ access_log off; sendfile on; keepalive_requests 100000; {temporary}
              server {{ listen 127.0.0.1:{self.port}; root files; }} }}
            """)
        path = os.environ["PATH"] + ":/usr/sbin"
        self.process = subprocess.Popen(
            [shutil.which("nginx", path=path), "-p", self.scratch, "-c", config])
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                time.sleep(0.05)
        sys.exit("nginx did not start")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


# ---------------------------------------------------------------------------------- measuring

class Bench:
    def __init__(self, options, scratch, url, samples):
        self.options, self.scratch, self.url, self.samples = options, scratch, url, samples

    def folder(self, name):
        path = self.scratch / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path

    def run(self, script, **environment):
        """Wall and processor time in seconds, and the memory of the largest process in MB."""
        started = time.monotonic()
        process = subprocess.Popen(["sh", "-ec", script], env=os.environ | environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        if status != 0:
            sys.exit(f"{script}\nended with {status}: {error[-2000:]}")
        return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def oprun(self, samples, out, cache):
        urls = self.scratch / "urls"
        urls.write_text("".join(f"{self.url}/{path.name}\n" for path in samples))
        return self.run(
            f"{self.options.program} download-and-resize --list={urls} --width=300 "
            f"--to={out}/{{name}}.{{ext}} --cache-dir={cache} --cache-size=100G --allow-private")

    def curl(self, folder):
        config = self.scratch / "curl.txt"
        config.write_text("".join(
            f'url = "{self.url}/{path.name}"\noutput = "{folder}/{path.name}"\n'
            for path in self.samples))
        return f"curl --silent --fail --parallel --parallel-max 6 --config {config}"

    def batch(self):
        rows = {}
        for number in range(self.options.rounds):
            for name, runner in self.runners().items():
                print(f"  {number + 1}/{self.options.rounds} {name}", file=sys.stderr)
                rows.setdefault(name, []).append(runner())
        print("| | wall | processor | largest process | wall × oprun-steps |\n|---|---:|---:|---:|---:|")
        ours = statistics.median(row[0] for row in rows["oprun-steps"])
        for name, samples in rows.items():
            wall, processor, memory = (statistics.median(column) for column in zip(*samples))
            print(f"| {name} | {wall:.2f} s | {processor:.2f} s | {memory:.0f} MB "
                  f"| {wall / ours:.3f} |")
        print(flush=True)

    def runners(self):
        cache, vips = self.scratch / "cache", "vipsthumbnail --size 300x -o"
        def each(pattern):
            return (f"find {self.scratch}/in -name '{pattern}' -print0 "
                    f"| xargs -0 -P {os.cpu_count()} -n 20")

        def first():
            shutil.rmtree(cache, ignore_errors=True)
            return self.oprun(self.samples, self.folder("out"), cache)

        def second():
            return self.oprun(self.samples, self.folder("out"), cache)

        def third():
            return self.oprun(self.samples, self.scratch / "out", cache)

        def after_curl(command):
            def runner():
                out = self.folder("out")
                return self.run(f"{self.curl(self.folder('in'))}; " + command(out))
            return runner

        runners = {
            "oprun-steps": first,
            "oprun-steps, again, results removed": second,
            "oprun-steps, again": third,
            "curl, then vipsthumbnail": after_curl(
                lambda out: f"vipsthumbnail --size 300x -o {out}/%s.jpg[Q=80,strip] {self.scratch}/in/*.jpg;"
                            f"vipsthumbnail --size 300x -o {out}/%s.png[strip] {self.scratch}/in/*.png"),
            "curl, then vipsthumbnail, one for each processor": after_curl(
                lambda out: f"{each('*.jpg')} vipsthumbnail --size 300x -o {out}/%s.jpg[Q=80,strip];"
                            f"{each('*.png')} vipsthumbnail --size 300x -o {out}/%s.png[strip]"),
            "curl, then mogrify -thumbnail, one for each processor": after_curl(
                lambda out: f"{each('*.*g')} mogrify -path {out} -quality 80 "
                            f"-define jpeg:size=600x600 -thumbnail 300x"),
        }
        return runners

    def small(self):
        """One image of 640 × 480: mostly the start of the program."""
        source = self.scratch / "small.jpg"
        subprocess.run(["vipsthumbnail", self.samples[0], "--size", "640x480", "-o", source], check=True)
        out = self.folder("out")
        commands = {
            "oprun-steps resize": f"{self.options.program} resize --from={source} --to={out}/a.jpg "
                                  "--width=300",
            "vipsthumbnail": f"vipsthumbnail --size 300x -o {out}/b.jpg[Q=80,strip] {source}",
        }
        walls = {name: [] for name in commands}
        for _ in range(40):
            for name, command in commands.items():
                walls[name].append(self.run(command)[0])
        ours, theirs = (statistics.median(walls[name]) for name in commands)
        print(f"One small image: oprun-steps {ours * 1e3:.1f} ms, vipsthumbnail {theirs * 1e3:.1f} ms: "
              f"{ours / theirs:.2f} ×\n", flush=True)

    def memory(self):
        """From 10 images to all of them, each time from nothing."""
        counts = sorted({10, 100, len(self.samples)})
        print("| images | largest process |\n|---:|---:|")
        for count in counts:
            cache = self.scratch / "cache"
            shutil.rmtree(cache, ignore_errors=True)
            # Of every size the same share.
            _, _, memory = self.oprun(self.samples[:count], self.folder("out"), cache)
            print(f"| {count} | {memory:.1f} MB |", flush=True)
        print()

    def limit(self):
        """What decoding alone takes, on one processor."""
        print("| processor time to decode | JPEG | PNG |\n|---|---:|---:|")
        for name, label in {"zlib": "libjpeg-turbo, libpng with zlib",
                            "isal": "libjpeg-turbo, libpng with ISA-L"}.items():
            output = subprocess.run([self.options.decode, name, *self.samples], check=True,
                                    stdout=subprocess.PIPE, text=True).stdout
            jpeg, png = output.split()
            print(f"| {label} | {jpeg} s | {png} s |", flush=True)
        print()


if __name__ == "__main__":
    main()
