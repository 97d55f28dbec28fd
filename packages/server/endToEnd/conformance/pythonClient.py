"""A client by the authors of Python's `websockets`: one job from the command line as JSON, what it heard as JSON."""

import asyncio
import json
import sys

import websockets

# Version 14 calls it by another name.
HEADERS = "additional_headers" if int(websockets.__version__.split(".")[0]) >= 14 else "extra_headers"


async def run(job):
    heard = {"messages": [], "code": None, "reason": None}
    async with websockets.connect(job["url"], **{HEADERS: {"Authorization": job["authorization"]}}) as socket:
        await socket.send(job["frame"])
        try:
            while len(heard["messages"]) < job["wanted"]:
                heard["messages"].append(json.loads(await asyncio.wait_for(socket.recv(), 20)))
            # Its own ping is answered, and its own close too.
            await asyncio.wait_for(await socket.ping(), 10)
            await socket.close(1000)
        except websockets.ConnectionClosed:
            pass
    heard["code"] = socket.close_code
    heard["reason"] = socket.close_reason
    return heard


print(json.dumps(asyncio.run(run(json.loads(sys.argv[1])))))
