"""Public names of `judgestats.commands`."""

from judgestats.commands.arguments import Args as Args
from judgestats.commands.arguments import Option as Option
from judgestats.commands.arguments import argument_texts as argument_texts
from judgestats.commands.arguments import word_values as word_values
from judgestats.commands.collection_declarations import TRAINING as TRAINING
from judgestats.commands.declarations import COMMANDS as COMMANDS
from judgestats.commands.declarations import FRONT as FRONT
from judgestats.commands.declarations import PROGRAMS as PROGRAMS
from judgestats.commands.help import COMMON as COMMON
from judgestats.commands.help import GROUPS as GROUPS
from judgestats.commands.help import overview as overview
from judgestats.commands.labels import LabelFile as LabelFile
from judgestats.commands.labels import export_labels as export_labels
from judgestats.commands.labels import read_table as read_table
from judgestats.commands.labels import write_table as write_table
from judgestats.commands.parsing import Program as Program
