"""The server of `gamedp serve`: a page in the browser, and the answers to its requests.

Nothing here is part of the public interface; docs/reference/web-api.md describes the answers.
"""
