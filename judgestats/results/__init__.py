"""What a result is: records, declared quantities, families, the file, how numbers are put.

An analysis makes records (`Estimate`, `Test`, `Comparison`, `Table`, `ResultSet`), puts tests into
families and draws headlines; `Results` holds them and is what ``results.json`` holds. Sentences,
prints, tables and figures are made from it, and nothing is read back from a text.
"""

from judgestats.lazy import public_names

__all__, __getattr__, __dir__ = public_names(__name__, __file__)
