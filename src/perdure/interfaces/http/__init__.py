"""The HTTP service: every verb as a route, MCP and the pages in one process over one open memory."""
