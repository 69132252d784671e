"""Certificates made of solutions; :mod:`gamedp.certificates.checking` checks them."""
