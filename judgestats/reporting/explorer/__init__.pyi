"""Public names of `judgestats.reporting.explorer`."""

from judgestats.reporting.explorer import page as page
from judgestats.reporting.explorer.labels_page import Answer as Answer
from judgestats.reporting.explorer.labels_page import blind_payload as blind_payload
from judgestats.reporting.explorer.labels_page import label_server as label_server
from judgestats.reporting.explorer.page import html_page as html_page
from judgestats.reporting.explorer.page import write_page as write_page
from judgestats.reporting.explorer.payload import item_texts as item_texts
from judgestats.reporting.explorer.payload import run_page as run_page
from judgestats.reporting.explorer.payload import view_payload as view_payload
