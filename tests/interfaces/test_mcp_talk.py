"""How the MCP tests talk to a server in process. Holds no test: two files of tests share it."""

from functools import cache

import anyio
from mcp import Client

from conftest import budget
from perdure.interfaces.mcp.run import LazyStore, build

MODES = ("2026-07-28", "legacy")
MOST_MODES = budget(MODES[:1], MODES)
"""For tests of what the protocol's version does not touch."""


class Turn(LazyStore):
    """Opens nothing: the memory of the test whose turn it is."""

    memory = None

    def __call__(self):
        return self.memory


@cache
def _server(profile):
    turn = Turn(None)
    return turn, build(turn, profile=profile)


def over(memory, profile="full"):
    """A server over a memory; tests share one, because to make one takes longer than to talk to it."""
    turn, server = _server(profile)
    turn.memory = memory
    return server


def talk(server, story, mode="auto", person=None):
    async def run():
        async with Client(server, mode=mode, elicitation_callback=person) as client:
            return await story(client)

    return anyio.run(run)


async def call(client, tool, **arguments):
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.content[0].text
    return answer.structured_content


async def refused(client, tool, **arguments):
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    assert answer.structured_content is None  # strict clients check it against the output schema
    error = answer.meta["perdure/error"]
    assert answer.content[0].text == f"{error['message']} {error['remedy']}".strip()
    assert error["remedy"]
    assert "Traceback" not in answer.content[0].text
    return error
