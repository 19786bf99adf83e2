# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 to a unix socket, many requests in flight."""
import socket


def ask(path, requests, window=20):
    """requests: [(target, {header: value})]; the body of each answer, which must be a 200 with a length."""
    found = []
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(10)
        sock.connect(str(path))
        with sock.makefile("rb") as replies:
            for i in range(0, len(requests), window):
                part = requests[i:i + window]
                sock.sendall(b"".join(render(*r) for r in part))
                found += [body(replies) for _ in part]
    return found


def render(target, headers):
    lines = [f"GET {target} HTTP/1.1", "Host: localhost", *(f"{k}: {v}" for k, v in headers.items()), "", ""]
    return "\r\n".join(lines).encode()


def body(replies):
    status, length = replies.readline(), None
    while (line := replies.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    assert b" 200 " in status and length is not None, status
    return replies.read(length).decode()
