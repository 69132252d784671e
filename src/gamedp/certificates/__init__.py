"""Certificates: bounds with the evidence to check them, and the checker.

The checker is small on purpose, and shares no code with what finds the bounds. It reads the arrays
of the model, and checks in every state one inequality for each bound and, where play might never
end, one for a rank. The page on certificates in the documentation has the theorems with their
proofs; those about ranks follow [1]_.

`certificate` describes what can be claimed. In `checking`, begin with `checker`, which finds the
rules that a certificate names: those in `bounds`, `equilibrium` or `stages`. For bounds,
`directions` describes the claim and what is known from the outset, and `choice_values` how
inequalities are decided in floating point.

References
----------
.. [1] K. Chatterjee, T. Quatmann, M. Schäffeler, M. Weininger, T. Winkler, D. Zilken, "Fixed Point
   Certificates for Reachability and Expected Rewards in MDPs", TACAS 2025.
"""

from gamedp.certificates.certificate import Certificate, Verified
from gamedp.certificates.checking.checker import verify

__all__ = ["Certificate", "Verified", "verify"]
