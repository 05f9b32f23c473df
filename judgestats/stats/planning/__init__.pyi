"""Public names of `judgestats.stats.planning`."""

from judgestats.stats.planning.design import Design as Design
from judgestats.stats.planning.pilot import PilotComponents as PilotComponents
from judgestats.stats.planning.pilot import pilot_components as pilot_components
