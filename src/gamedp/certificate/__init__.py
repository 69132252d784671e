"""Certificates: bounds with what it takes to check them, and the checker.

The checker is small on purpose, and shares nothing with what finds the bounds: it reads the arrays
of the model, and asks of every state one inequality a bound and, where play might never end, one
about a rank. The page on certificates in the documentation has the theorems with their proofs;
those about ranks are after [1]_.

Read ``claim`` for what is claimed, ``sides`` for what is known from the outset, ``verifying`` for
the rules, and ``worth`` for how inequalities are decided in floating point.

References
----------
.. [1] K. Chatterjee, T. Quatmann, M. Schäffeler, M. Weininger, T. Winkler, D. Zilken, "Fixed Point
   Certificates for Reachability and Expected Rewards in MDPs", TACAS 2025.
"""

from gamedp.certificate.base import Verified
from gamedp.certificate.claim import Certificate
from gamedp.certificate.equilibrium import EquilibriumCertificate
from gamedp.certificate.staged import StagedCertificate
from gamedp.certificate.verifying import verify

__all__ = ["Certificate", "EquilibriumCertificate", "StagedCertificate", "Verified", "verify"]
