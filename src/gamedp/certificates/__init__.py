"""Certificates: bounds with the evidence to check them, and the checker.

The checker is small on purpose, and shares nothing with what finds the bounds: it reads the arrays
of the model, and asks of every state one inequality a bound and, where play might never end, one
about a rank. The page on certificates in the documentation has the theorems with their proofs;
those about ranks are after [1]_.

Read `certificate` for what can be claimed, and of `checking` first `checker`, which finds the rules
that a certificate names: those in `bounds`, `equilibrium` or `stages`. Of bounds, `directions`
says what is claimed and what is known from the outset, and `choice_values` how
inequalities are decided in floating point.

References
----------
.. [1] K. Chatterjee, T. Quatmann, M. Schäffeler, M. Weininger, T. Winkler, D. Zilken, "Fixed Point
   Certificates for Reachability and Expected Rewards in MDPs", TACAS 2025.
"""

from gamedp.certificates.certificate import Certificate, Verified
from gamedp.certificates.checking.checker import verify

__all__ = ["Certificate", "Verified", "verify"]
