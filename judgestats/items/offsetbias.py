"""OffsetBias: the training pairs from which studies draw more cases than EvalBiasBench has."""

from __future__ import annotations

from judgestats.errors import InputError
from judgestats.items.files import Source
from judgestats.items.records import MAX_CHARS, as_text, check_items, shown
from judgestats.items.schema import HumanLabel, Item, Response


def offsetbias_items(source: Source, *, max_chars: int = MAX_CHARS) -> tuple[Item, ...]:
    """OffsetBias: rows with ``instruction, output_1, output_2`` and ``label`` (1 or 2 is better).

    Parameters
    ----------
    source : Source
    max_chars : int
        Longest text allowed, in characters.

    Returns
    -------
    tuple of Item
        One a row; rows with the same instruction share a cluster.

    Raises
    ------
    InputError
        If a field is missing or of the wrong type, or a label is neither.
    """
    items = []
    cluster_of: dict[str, str] = {}
    for number, row in enumerate(source.rows, start=1):
        label = str(row.values.get("label"))
        if label not in ("1", "2"):
            raise InputError(f"{row.where}: 'label' must be 1 or 2, not {shown(label)}.")
        question, first, second = (
            as_text(
                row.values.get(name),
                f"{row.where}: {name!r}",
                empty_ok=name != "instruction",
                max_chars=max_chars,
            )
            for name in ("instruction", "output_1", "output_2")
        )
        item_id = f"row-{number}"
        items.append(
            Item(
                id=item_id,
                cluster=cluster_of.setdefault(question, item_id),
                turns=(question,),
                responses=(Response(turns=(first,)), Response(turns=(second,))),
                labels=(HumanLabel(annotator="gold", a=0, b=1, winner="ab"[int(label) - 1]),),
            )
        )
    return check_items(items, where=source.name)
