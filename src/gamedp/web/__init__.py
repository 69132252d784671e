"""The room of `gamedp serve`: a page in the browser, and what it asks for.

Nothing here is part of the public face; docs/reference/web-api.md says what the server answers.
"""
