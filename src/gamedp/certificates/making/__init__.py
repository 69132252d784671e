"""Certificates made of solutions; what is made here is checked by :mod:`gamedp.certificates`."""
