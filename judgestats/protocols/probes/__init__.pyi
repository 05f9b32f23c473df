"""Public names of `judgestats.protocols.probes`."""

from judgestats.lazy import public_names as public_names
from judgestats.protocols.probes.base import OPTIONS as OPTIONS
from judgestats.protocols.probes.base import ORIGINAL as ORIGINAL
from judgestats.protocols.probes.base import PAIRS as PAIRS
from judgestats.protocols.probes.base import Asks as Asks
from judgestats.protocols.probes.base import Kind as Kind
from judgestats.protocols.probes.base import Probe as Probe
from judgestats.protocols.probes.base import ProbeAnswer as ProbeAnswer
from judgestats.protocols.probes.base import Variant as Variant
from judgestats.protocols.probes.protocols import PROBES as PROBES
from judgestats.protocols.probes.protocols import ProbedPairwise as ProbedPairwise
from judgestats.protocols.probes.protocols import ProbedPointwise as ProbedPointwise
from judgestats.protocols.probes.protocols import ProbedSelection as ProbedSelection
from judgestats.protocols.probes.protocols import probes_named as probes_named
from judgestats.protocols.probes.protocols import scaled as scaled
from judgestats.protocols.probes.protocols import variants_of as variants_of
