"""Serves a folder on loopback until a file appears: serve.py FOLDER URLS STOP.

Once it listens, on a port that was free, makes the folder URLS: all.txt holds the URLs of all files,
1.txt that of the first, and so on."""

import functools
import http.server
import os
import sys
import threading
from pathlib import Path

folder, urls, stop = map(Path, sys.argv[1:])
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
threading.Thread(target=server.serve_forever, daemon=True).start()

found = [f"http://127.0.0.1:{server.server_port}/{path.name}\n" for path in sorted(folder.iterdir())]
part = urls.with_name("urls.part")
part.mkdir()
for number, url in enumerate(found, 1):
    (part / f"{number}.txt").write_text(url)
(part / "all.txt").write_text("".join(found))
os.rename(part, urls)

ended = threading.Event()
while not stop.exists() and not ended.wait(0.05):
    pass
