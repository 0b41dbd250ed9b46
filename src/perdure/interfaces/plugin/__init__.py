"""The plugin for Claude Code, its installation, and the launcher that finds this program again."""
