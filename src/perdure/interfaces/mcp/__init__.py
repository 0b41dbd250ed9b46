"""The MCP server: one tool for each verb that an agent uses."""
