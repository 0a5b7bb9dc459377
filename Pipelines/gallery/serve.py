"""Serves a folder on loopback until it is stopped: serve.py FOLDER URLS.

Once it listens, on a port that was free, makes the folder URLS: all.txt holds the URLs of all files,
1.txt that of the first, and so on."""

import functools
import http.server
import os
import sys
from pathlib import Path

folder, urls = map(Path, sys.argv[1:])


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


handler = functools.partial(Quiet, directory=folder)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)

found = [f"http://127.0.0.1:{server.server_port}/{path.name}\n" for path in sorted(folder.iterdir())]
part = urls.with_name("urls.part")
part.mkdir()
for number, url in enumerate(found, 1):
    (part / f"{number}.txt").write_text(url)
(part / "all.txt").write_text("".join(found))
os.rename(part, urls)
server.serve_forever()
