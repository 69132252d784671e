"""What people call: each verb takes whatever kind of thing there is, and says so in its type.

Each loads what it needs when it is called: so a certificate is checked without numba.
"""
