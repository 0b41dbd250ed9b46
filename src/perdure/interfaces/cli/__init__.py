"""The command line: one command for each verb, and the commands that read files by hand."""
