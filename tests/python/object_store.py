# SPDX-License-Identifier: MIT
"""A server that speaks as much of S3's protocol as reading takes: a folder's subfolders are its buckets."""

import contextlib
import http.server
import os
import pathlib
import re
import threading
import urllib.parse
from email.utils import formatdate
from xml.sax.saxutils import escape


def _error(code):
    return f"<Error><Code>{code}</Code><Message>{code}</Message></Error>"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder: pathlib.Path
    key: str

    def log_message(self, *_):
        pass

    def _answer(self, status, body=b"", headers=None):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _list(self, bucket, query):
        """Keys that begin with the prefix, or up to the delimiter after it, all in one answer."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        keys = sorted(path.relative_to(bucket).as_posix() for path in bucket.rglob("*") if path.is_file())
        contents, common = [], set()
        for key in keys:
            if not key.startswith(prefix):
                continue
            rest = key[len(prefix) :]
            if delimiter and delimiter in rest:
                common.add(prefix + rest.split(delimiter)[0] + delimiter)
                continue
            size = (bucket / key).stat().st_size
            contents.append(
                f"<Contents><Key>{escape(key)}</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified>"
                f"<ETag>&quot;0&quot;</ETag><Size>{size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            )
        prefixes = "".join(
            f"<CommonPrefixes><Prefix>{escape(p)}</Prefix></CommonPrefixes>" for p in sorted(common)
        )
        self._answer(
            200,
            '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>{bucket.name}</Name><Prefix>{escape(prefix)}</Prefix><MaxKeys>1000</MaxKeys>"
            f"<KeyCount>{len(contents) + len(common)}</KeyCount><IsTruncated>false</IsTruncated>"
            f"{''.join(contents)}{prefixes}</ListBucketResult>",
        )

    def do_GET(self):
        if f"Credential={self.key}/" not in self.headers.get("Authorization", ""):
            return self._answer(403, _error("InvalidAccessKeyId"))
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        name, _, key = urllib.parse.unquote(url.path).lstrip("/").partition("/")
        bucket = self.folder / name
        if not name or not bucket.is_dir():
            return self._answer(404, _error("NoSuchBucket"))
        if not key:
            return self._list(bucket, query)
        if not (bucket / key).is_file():
            return self._answer(404, _error("NoSuchKey"))
        body, status = (bucket / key).read_bytes(), 200
        headers = {"ETag": '"0"', "Last-Modified": formatdate(0, usegmt=True)}
        if wanted := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
            first, last = int(wanted[1]), min(int(wanted[2] or len(body)), len(body) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
            body, status = body[first : last + 1], 206
        self._answer(status, body, headers)

    do_HEAD = do_GET


@contextlib.contextmanager
def serve(folder, key):
    """Yields the server's URL. key: the only access key that is let in."""
    handler = type("Handler", (_Handler,), {"folder": pathlib.Path(os.fspath(folder)), "key": key})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
