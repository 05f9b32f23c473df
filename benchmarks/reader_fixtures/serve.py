"""The simulated judges behind a port, speaking as other tools' graders are asked to speak.

python serve.py PORT. Inspect's built-in grader asks for "GRADE: C" or "GRADE: I", judgekeeper's for
"Verdict: pass": the request is handed on as one for [[correct]] or [[incorrect]], and the reply is
translated back. MLflow's older metrics want a score without brackets. A seed is not heeded
(lm-evaluation-harness sends one and the same with every repeat). A prompt that holds "Server, fail
here." is answered with status 400, so that every tool meets a failed call.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys

import uvicorn

from judgestats.simulated.app import SimulatedServer

FAIL = b"Server, fail here."
FORMS = {
    b"GRADE: $LETTER": {"[[correct]]": "GRADE: C", "[[incorrect]]": "GRADE: I"},
    b"Verdict: pass": {"[[correct]]": "Verdict: pass", "[[incorrect]]": "Verdict: fail"},
}
BARE = b"score: Your numerical score"
HINT = "\n\nReply with [[correct]] or [[incorrect]]."


class Interpreter:
    """Between a tool and the simulated server."""

    def __init__(self) -> None:
        self.inner = SimulatedServer()

    async def __call__(self, scope, receive, send) -> None:
        """Translate one request and its reply."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.inner(scope, receive, send)
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        if FAIL in body:
            said = {
                "error": {
                    "message": "The prompt was refused by the server. Please try again with a different prompt.",
                    "type": "invalid_request_error",
                    "code": "invalid_prompt",
                }
            }
            await reply(send, 400, json.dumps(said).encode())
            return
        form = next((f for mark, f in FORMS.items() if mark in body), {})
        bare = BARE in body
        request = json.loads(body)
        request.pop("seed", None)
        if form:
            request["messages"][-1]["content"] += HINT
        body = json.dumps(request).encode()
        scope = {**scope, "headers": [h for h in scope["headers"] if h[0] != b"content-length"]}

        async def again():
            return {"type": "http.request", "body": body, "more_body": False}

        caught = []

        async def catch(message) -> None:
            caught.append(message)

        await self.inner(scope, again, catch)
        out = b"".join(m.get("body", b"") for m in caught)
        for ours, theirs in form.items():
            out = out.replace(ours.encode(), theirs.encode())
        if bare:
            out = re.sub(
                rb"(?i)score: \[\[(\d+)\]\]",
                rb"score: \1\\njustification: It is mostly clear.",
                out,
            )
        await reply(send, caught[0]["status"], out)


async def reply(send, status: int, body: bytes) -> None:
    """Send a JSON body."""
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


if __name__ == "__main__":
    config = uvicorn.Config(
        Interpreter(), port=int(sys.argv[1]), log_level="warning", lifespan="off"
    )
    asyncio.run(uvicorn.Server(config).serve())
