"""The decision maker's page: look at runs, pick a policy, watch it, save it.

The page itself is in `page/`. It reads one JSON document (`document.py`), live from a small server
(`server.py`) or inlined into one file (`report.py`).
"""
