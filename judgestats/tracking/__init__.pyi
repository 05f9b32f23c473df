"""Public names of `judgestats.tracking`."""

from judgestats.tracking.runs import MOST_CHILDREN as MOST_CHILDREN
from judgestats.tracking.runs import SHARED as SHARED
from judgestats.tracking.runs import WHOLE_RUN as WHOLE_RUN
from judgestats.tracking.runs import RunWriter as RunWriter
from judgestats.tracking.runs import answer_note as answer_note
from judgestats.tracking.runs import artifact_path as artifact_path
from judgestats.tracking.runs import declared_names as declared_names
from judgestats.tracking.runs import key as key
from judgestats.tracking.runs import results_of_run as results_of_run
from judgestats.tracking.runs import run_folder as run_folder
from judgestats.tracking.runs import run_judgments as run_judgments
from judgestats.tracking.runs import verdict_metrics as verdict_metrics
from judgestats.tracking.store import Store as Store
from judgestats.tracking.store import make_blank as make_blank
from judgestats.tracking.store import open_store as open_store
from judgestats.tracking.store import quiet_mlflow as quiet_mlflow
from judgestats.tracking.store import schema_path as schema_path
from judgestats.tracking.store import store_faults as store_faults
from judgestats.tracking.traces import TraceWriter as TraceWriter
from judgestats.tracking.traces import is_run_id as is_run_id
from judgestats.tracking.traces import stored_assessments as stored_assessments
