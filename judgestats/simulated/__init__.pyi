"""Public names of `judgestats.simulated`."""

from judgestats.lazy import public_names as public_names
from judgestats.simulated.app import Faults as Faults
from judgestats.simulated.app import Receive as Receive
from judgestats.simulated.app import Send as Send
from judgestats.simulated.app import SimulatedServer as SimulatedServer
from judgestats.simulated.app import error as error
from judgestats.simulated.app import read_body as read_body
from judgestats.simulated.app import run_server as run_server
from judgestats.simulated.app import send_bytes as send_bytes
from judgestats.simulated.app import send_json as send_json
from judgestats.simulated.app import serve as serve
from judgestats.simulated.judges import Truth as Truth
from judgestats.simulated.judges import quality_of as quality_of
from judgestats.simulated.judges import simulated_judge as simulated_judge
from judgestats.simulated.judges import simulated_judges as simulated_judges
from judgestats.simulated.judges import stated_quality as stated_quality
from judgestats.simulated.judges import uniform_of as uniform_of
from judgestats.simulated.replies import RefusedError as RefusedError
from judgestats.simulated.replies import distribution as distribution
from judgestats.simulated.replies import simulated_answerer as simulated_answerer
from judgestats.simulated.replies import simulated_answerers as simulated_answerers
from judgestats.simulated.request_reader import read_request as read_request
