"""Public names of `judgestats.files`."""

from judgestats.files.guarded import Limits as Limits
from judgestats.files.guarded import archive as archive
from judgestats.files.guarded import foreign as foreign
from judgestats.files.guarded import json_document as json_document
from judgestats.files.guarded import lines as lines
from judgestats.files.guarded import records as records
from judgestats.files.monitor_state import Look as Look
from judgestats.files.monitor_state import MonitorState as MonitorState
from judgestats.files.monitor_state import Observation as Observation
from judgestats.files.monitor_state import Reference as Reference
from judgestats.files.monitor_state import Terms as Terms
from judgestats.files.monitor_state import changed_state as changed_state
from judgestats.files.tables import parquet_table as parquet_table
from judgestats.files.tables import separated_table as separated_table
from judgestats.files.tables import sqlite_table as sqlite_table
from judgestats.files.tables import text_lines as text_lines
from judgestats.files.tables import workbook_table as workbook_table
from judgestats.files.text import NestedError as NestedError
from judgestats.files.text import clean as clean
from judgestats.files.text import clean_json as clean_json
from judgestats.files.text import decode_json as decode_json
