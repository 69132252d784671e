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

from gamedp.certificates.certificate import Verified
from gamedp.certificates.checking.bounds import verify
from gamedp.certificates.checking.claims import Certificate
from gamedp.certificates.checking.equilibrium import EquilibriumCertificate
from gamedp.certificates.checking.stages import StagedCertificate

__all__ = ["Certificate", "EquilibriumCertificate", "StagedCertificate", "Verified", "verify"]
