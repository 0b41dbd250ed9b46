"""How the MCP tests talk to a server in process. Holds no test: two files of tests share it."""

import anyio
from mcp import Client

MODES = ("2026-07-28", "legacy")


def talk(server, story, mode="auto"):
    async def run():
        async with Client(server, mode=mode) as client:
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
