"""A simulated server that refuses some requests and gives no reason."""

import json

from judgestats.simulated import error, read_body, send_json
from tests.batch_server import BatchServer


class Picky(BatchServer):
    """Refuses what a function of the request names, in words of your choice."""

    def __init__(self, refuses, *, status=400, words="Bad request"):
        super().__init__()
        self.refuses, self.status, self.words = refuses, status, words

    async def __call__(self, scope, receive, send):
        body = await read_body(receive)

        async def again():
            return {"type": "http.request", "body": body, "more_body": False}

        asked = scope["path"].endswith("/chat/completions")
        if asked and self.refuses(json.loads(body)):
            self.received += 1
            await send_json(send, self.status, error(self.words))
        else:
            await super().__call__(scope, again, send)
