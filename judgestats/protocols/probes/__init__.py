"""The catalogue of probes: what must not move a judge, must not succeed, and must move it.

A probe is declared once, here; ``probes=`` of the experiment `probe`, its tables and screen
follow from it. They are made by rule from the available items, but for those whose texts come with
the items: no model is asked for any text.
"""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
