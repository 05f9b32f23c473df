"""A chat completion server that does nothing but wait: for `collect.py`, in a process of its own.

Raw asyncio, keep-alive, one fixed reply after a fixed latency: some 20,000 requests a second, so
that what is measured beside it is the client.

    python benchmarks/loopback_server.py 20     # latency in milliseconds; prints its port
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys

CHOICE = {
    # "result" and "rationale" are what MLflow's judges look for
    "message": {
        "role": "assistant",
        "content": '{"score": 8, "result": 8, "rationale": "fine"}',
        "refusal": None,
    },
    "finish_reason": "stop",
    "logprobs": None,
}


def reply(choices: int) -> bytes:
    body = json.dumps(
        {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 1,
            "model": "bench",
            "system_fingerprint": "fp_0",
            "choices": [{**CHOICE, "index": i} for i in range(choices)],
            "usage": {"prompt_tokens": 300, "completion_tokens": 4, "total_tokens": 304},
        }
    ).encode()
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


REPLIES = {n: reply(n) for n in range(1, 33)}


class Connection(asyncio.Protocol):
    """One keep-alive connection."""

    latency = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        self.transport = transport
        self.data = b""

    def data_received(self, data: bytes) -> None:
        """Answer every whole request, after the latency."""
        self.data += data
        while True:
            end = self.data.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.data[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.data) < end + 4 + length:
                return
            body, self.data = self.data[end + 4 : end + 4 + length], self.data[end + 4 + length :]
            n_at = body.find(b'"n":')
            count = int(body[n_at + 4 : n_at + 8].split(b",")[0].strip(b" }")) if n_at >= 0 else 1
            asyncio.get_running_loop().call_later(self.latency, self.answer, REPLIES[count])

    def answer(self, data: bytes) -> None:
        """Write a reply, unless the client has gone."""
        if not self.transport.is_closing():
            self.transport.write(data)


async def main() -> None:
    Connection.latency = float(sys.argv[1]) / 1000
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(4096)
    server = await asyncio.get_running_loop().create_server(Connection, sock=listener)
    print(listener.getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
