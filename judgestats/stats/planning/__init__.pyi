"""Public names of `judgestats.stats.planning`."""

from judgestats.stats.planning.design import Design as Design
from judgestats.stats.planning.price import PilotComponents as PilotComponents
from judgestats.stats.planning.price import pilot_components as pilot_components
