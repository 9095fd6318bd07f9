#!/usr/bin/env python3
"""A small schema registry, and a command that is run beside it.

    formats/golden/registry_server.py COMMAND…

No registry can be had from Debian's packages, so this one is written from the published API of
Confluent's (schemas by number, subjects with versions, errors with a code and a message); it is none
of theirs. It keeps what it is told in memory, and listens on a port of its own at 127.0.0.1, whose
address is in REGISTRY_URL. By the begin of a path it misbehaves: /away answers 503 to the first
three requests of each path, /down to all of them, /closed asks for a password, /huge and /odd answer
too much and nonsense. /asked/schemas/ids/N answers how often /once/schemas/ids/N was asked for.
"""
import base64
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlparse

CONTENT = "application/vnd.schemaregistry.v1+json"
lock = threading.Lock()
schemas = []  # (type, text); the number is the place + 1
subjects = {}  # name -> numbers of its versions
requests = Counter()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        body = json.dumps(value).encode() if not isinstance(value, bytes) else value
        self.send_response(status)
        self.send_header("Content-Type", CONTENT)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code, message):
        self.answer(status, {"error_code": code, "message": message})

    def behave(self):
        """The path without what makes the server misbehave; None: it has answered."""
        url = urlparse(self.path)
        path = url.path
        with lock:
            requests[self.path] += 1
            count = requests[self.path]
        if path.startswith("/down") or (path.startswith("/away") and count <= 3):
            return self.refuse(503, 50301, "not now")
        if path.startswith("/closed"):
            given = self.headers.get("Authorization", "")
            if given not in ("Basic " + base64.b64encode(b"user:secret").decode(), "Bearer token-1"):
                return self.refuse(401, 40101, "who are you?")
        if path.startswith("/huge"):
            return self.answer(200, b"{\"schema\": \"" + b"x" * (2 << 20) + b"\"}")
        if path.startswith("/odd"):
            return self.answer(200, b"<html>")
        if path.startswith("/asked"):
            return self.answer(200, {"schema": str(requests["/once" + path.removeprefix("/asked")])})
        for each in ("/away", "/closed", "/once"):
            path = path.removeprefix(each)
        return path

    def do_GET(self):
        found = self.behave()
        if found is None:
            return
        parts = found.strip("/").split("/")
        if parts[:2] == ["schemas", "ids"] and parts[2].isdigit():
            number = int(parts[2])
            if not 1 <= number <= len(schemas):
                return self.refuse(404, 40403, f"Schema {number} not found")
            kind, text = schemas[number - 1]
            # Text of a .proto file is not understood here: descriptors come in as they go out.
            return self.answer(200, {"schema": text} if kind == "AVRO" else {"schema": text, "schemaType": kind})
        self.refuse(404, 404, "HTTP 404 Not Found")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = self.behave()
        if found is None:
            return
        parts = found.strip("/").split("/")
        if parts[0] != "subjects" or parts[2:] != ["versions"] or self.headers["Content-Type"] != CONTENT:
            return self.refuse(404, 404, "HTTP 404 Not Found")
        subject = unquote(parts[1])
        schema = (body.get("schemaType", "AVRO"), body["schema"])
        with lock:
            if subject.startswith("frozen") and subject in subjects and schemas[subjects[subject][0] - 1] != schema:
                return self.refuse(409, 409, "Schema being registered is incompatible with an earlier schema")
            if schema not in schemas:
                schemas.append(schema)
            number = schemas.index(schema) + 1
            subjects.setdefault(subject, []).append(number)
        self.answer(200, {"id": number})


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # whoever has heard enough goes away
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = dict(os.environ, REGISTRY_URL=f"http://127.0.0.1:{server.server_port}")
    sys.exit(subprocess.run(sys.argv[1:], env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
