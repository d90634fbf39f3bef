"""The MCP client side and the only holder of credentials. `manager.py` is the way in.

`server.py` is one server for its callers, `owner.py` its task, `standing.py` what others see of it; `connect.py` brings
it up over `stdio.py` or `http.py`, both behind `filter.py`; `connection.py` lists and calls.
"""
