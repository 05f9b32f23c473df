"""Public names of `judgestats.training`."""

from judgestats.training.examples import KINDS as KINDS
from judgestats.training.examples import DataSplit as DataSplit
from judgestats.training.examples import Example as Example
from judgestats.training.examples import ExampleSet as ExampleSet
from judgestats.training.examples import Filters as Filters
from judgestats.training.examples import Source as Source
from judgestats.training.examples import balanced as balanced
from judgestats.training.examples import split_by_question as split_by_question
from judgestats.training.examples import training_examples as training_examples
from judgestats.training.examples import write_training_data as write_training_data
from judgestats.training.train import CHAT_TEMPLATE as CHAT_TEMPLATE
from judgestats.training.train import CoverageModel as CoverageModel
from judgestats.training.train import Trained as Trained
from judgestats.training.train import TrainingSettings as TrainingSettings
from judgestats.training.train import coverage_table as coverage_table
from judgestats.training.train import covered as covered
from judgestats.training.train import load as load
from judgestats.training.train import need as need
from judgestats.training.train import read_chats as read_chats
from judgestats.training.train import train_judge as train_judge
