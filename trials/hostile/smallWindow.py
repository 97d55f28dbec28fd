"""A reader with a small receive buffer: opens a stream, subscribes, reads the first bytes of the handshake and then nothing more.

Arguments: port, authorization header, subscribe frame, receive buffer in bytes. Prints STOPPED once it reads no more.
"""

import base64
import os
import socket
import struct
import sys

port, authorization, frame, window = int(sys.argv[1]), sys.argv[2], sys.argv[3].encode(), int(sys.argv[4])
client = socket.socket()
client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
client.connect(("127.0.0.1", port))
client.sendall(
    (
        "GET /v1/stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n"
        f"Authorization: {authorization}\r\n\r\n"
    ).encode()
)
assert client.recv(12) == b"HTTP/1.1 101"
# Masked with zeros: the frame as it is.
head = struct.pack("!BBH", 0x81, 0x80 | 126, len(frame)) if len(frame) > 125 else struct.pack("!BB", 0x81, 0x80 | len(frame))
client.sendall(head + bytes(4) + frame)
print("STOPPED", flush=True)
sys.stdin.read()
