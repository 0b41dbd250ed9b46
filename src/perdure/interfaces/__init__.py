"""Doorways: parse, call, render. No logic of memory lives here."""
