"""The MCP server: one tool for each verb that an agent uses."""

from perdure.interfaces.mcp.run import build

__all__ = ["build"]
