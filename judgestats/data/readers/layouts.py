"""Layouts of other tools' exports: where each holds items, criteria, verdicts and raters."""

from __future__ import annotations

import re
from collections.abc import Collection

from judgestats.data.readers.exports import Layout

_EVENTS = "resourceLogs[].scopeLogs[].logRecords[]"
_EVALUATION = f"{_EVENTS}.attributes.gen_ai.evaluation"

LAYOUTS: tuple[Layout, ...] = (
    Layout(
        name="langfuse-scores", about="Langfuse scores",
        signature=("traceId", "source", "name", "dataType", "value"),
        document="data", item=("traceId", "observationId"), criterion="name", rater="source",
        verdict=("stringValue", "value"), explanation="comment",
    ),
    Layout(
        name="langfuse-export", about="exported Langfuse scores",
        signature=("trace_id", "source", "name", "data_type", "value"),
        item=("trace_id", "observation_id"), criterion="name", rater="source",
        verdict=("string_value", "value"), explanation="comment",
    ),
    Layout(
        name="langfuse-traces", about="Langfuse traces",
        signature=("id", r"scores\[\]\.name", r"scores\[\]\.value", r"scores\[\]\.source",
                   r"scores\[\]\.(?:dataType|traceId|configId)"),
        document="data", each="scores", item=("id",), criterion="scores[].name",
        rater="scores[].source", explanation="scores[].comment",
        verdict=(r"scores\[\]\.stringValue", r"scores\[\]\.value"),
    ),
    Layout(
        name="langsmith-feedback", about="LangSmith feedback",
        signature=("key", "run_id", r"feedback_source\.type"),
        item=("run_id",), criterion="key", rater="feedback_source.type",
        verdict=("score", "value"), explanation="comment",
    ),
    Layout(
        name="langsmith-experiment", about="a LangSmith experiment",
        signature=("example_id", r"feedback\..+"),
        item=("id",), cluster="example_id", verdict=(r"feedback\.(.+)",),
    ),
    Layout(
        name="braintrust-experiment", about="a Braintrust experiment",
        signature=(r"span_attributes\.type", r"scores\..+", "root_span_id"),
        drop=("span_attributes.type", ("score",)), item=("root_span_id",),
        verdict=(r"scores\.(.+)",),
    ),
    Layout(
        name="phoenix-annotations", about="Phoenix span annotations",
        signature=("annotator_kind", "annotation_name", r"result\.(?:label|score)"),
        item=("span_id",), criterion="annotation_name", rater="annotator_kind",
        verdict=(r"result\.label", r"result\.score"), explanation="result.explanation",
    ),
    Layout(
        name="phoenix-evals", about="Phoenix evaluations",
        signature=(r"(.+)_score\.(?:label|score)", r"(.+)_score\.kind", r"(.+)_score\.direction"),
        inverted=(r".+_score\.direction", "minimize"), naming=r".+_score\.name",
        item=("context.span_id",), verdict=(r"(.+)_score\.label", r"(.+)_score\.score"),
    ),
    Layout(
        name="phoenix-span-evaluations", about="Phoenix span evaluations",
        signature=(r"context\.span_id", "label", "score", "explanation"),
        item=("context.span_id",), verdict=("label", "score"), explanation="explanation",
    ),
    Layout(
        name="phoenix-spans", about="Phoenix spans",
        signature=(r"context\.span_id", r"eval\.(.+)\.(?:label|score)"),
        item=("context.span_id",), verdict=(r"eval\.(.+)\.label", r"eval\.(.+)\.score"),
    ),
    Layout(
        name="phoenix-classifications", about="Phoenix classifications",
        signature=("label", "exceptions", "execution_status"), item=("context.span_id",),
        verdict=("label",), explanation="explanation", empty="error",
        values={"NOT_PARSABLE": "unparsed"},
    ),
    Layout(
        name="mlflow-traces", about="MLflow traces",
        signature=("trace_id", r"assessments\[\]\.assessment_name",
                   r"assessments\[\]\.source\.source_type"),
        each="assessments", item=("trace_id",), criterion="assessments[].assessment_name",
        rater="assessments[].source.source_type", explanation="assessments[].rationale",
        judge=r"assessments\[\]\.source\.source_id",
        verdict=(r"assessments\[\]\.feedback\.value",),
    ),
    Layout(
        name="databricks-evaluation", about="a Databricks agent evaluation",
        signature=("request_id", r"response/llm_judged/(.+)/rating"), item=("request_id",),
        verdict=(r"response/llm_judged/(.+)/rating",),
    ),
    Layout(
        name="metric-table", about="a table of metrics",
        signature=(r"(.+?)(?:/v\d+)?/(?:score|value)",
                   r"(.+?)(?:/v\d+)?/(?:explanation|justification|rationale)"),
        item=("trace_id",), verdict=(r"(.+?)(?:/v\d+)?/(?:score|value)",),
    ),
    Layout(
        name="vertex-pairwise", about="a pairwise Vertex AI evaluation",
        signature=(r"(.+)/pairwise_choice", r"(.+)/explanation"),
        verdict=(r"(.+)/pairwise_choice",),
        values={"BASELINE": "b", "CANDIDATE": "a", "TIE": "tie"},
    ),
    Layout(
        name="inspect-samples", about="a table of Inspect samples",
        signature=("sample_id", "epoch", "model", r"score_(.+)"), item=("sample_id",),
        cluster="id", system="model", verdict=(r"score_(.+)",),
    ),
    Layout(
        name="llama-index", about="LlamaIndex evaluations",
        signature=("@block", "query", "response", "passing", "score"), document="@block",
        item=("query", "response"),
        criterion="@block", verdict=("score", "passing"), explanation="feedback",
    ),
    Layout(
        name="opik-traces", about="Opik traces",
        signature=(r"feedback_scores\[\]\.name", r"feedback_scores\[\]\.value",
                   r"feedback_scores\[\]\.source"),
        each="feedback_scores", item=("id",), criterion="feedback_scores[].name",
        rater="feedback_scores[].source", verdict=(r"feedback_scores\[\]\.value",),
        explanation="feedback_scores[].reason",
    ),
    Layout(
        name="opik-experiment", about="an Opik experiment",
        signature=(r"dataset\..+", r"feedback_scores\..+"),
        item=("dataset.id",), verdict=(r"feedback_scores\.((?!.*_reason$).+)",),
    ),
    Layout(
        name="weave-feedback", about="Weave feedback",
        signature=("feedback_type", "weave_ref", r"payload\..+"),
        item=("weave_ref",), criterion="feedback_type", rater="feedback_type",
        raters={"runnable": "judge", "reaction": "rule", "note": "rule"},
        within={"criterion": r"wandb\.annotation\.(.+)", "rater": r"wandb\.(\w+)\..+"},
        verdict=(r"payload\.output\.(.+)", r"payload\.value"),
    ),
    Layout(
        name="weave-evaluation", about="a Weave evaluation",
        signature=("op_name", r"output\.scores\..+", r"inputs\.example.*"),
        item=("inputs.example.id", "inputs.example"), system="inputs.model",
        verdict=(r"output\.scores\.[^.]+\.(.+)",),
    ),
    Layout(
        name="otel-genai-evaluation", about="OpenTelemetry evaluation events",
        signature=(re.escape(f"{_EVALUATION}.name"),), each=_EVENTS.removesuffix("[]"),
        inner=(f"{_EVENTS}.", "attributes."),
        keep=(f"{_EVENTS}.eventName", ("gen_ai.evaluation.result",)),
        item=(f"{_EVENTS}.attributes.gen_ai.response.id", f"{_EVENTS}.spanId"),
        criterion=f"{_EVALUATION}.name", error=f"{_EVENTS}.attributes.error.type",
        verdict=(re.escape(f"{_EVALUATION}.score.label"), re.escape(f"{_EVALUATION}.score.value")),
        explanation=f"{_EVALUATION}.explanation",
    ),
    Layout(
        name="openai-evals-events", about="an OpenAI Evals log",
        signature=("sample_id", "type", r"data\.(?:score|correct|choice)"),
        keep=("type", ("metrics", "match")), item=("sample_id",),
        verdict=(r"data\.score", r"data\.correct", r"data\.choice"), letters="choice",
    ),
    Layout(
        name="openai-eval-output-items", about="output items of an OpenAI eval",
        signature=("object", "datasource_item_id", r"results\[\]\.passed"),
        among={"object": ("eval.run.output_item",)}, document="data", each="results",
        item=("datasource_item_id",), system="sample.model", criterion="results[].name",
        verdict=(r"results\[\]\.passed", r"results\[\]\.score"),
        label=(r"datasource_item\.(?:human\w*|label|gold\w*|expected_label)",),
    ),
    Layout(
        name="trulens", about="TruLens records",
        signature=("record_id", "app_version", r"(.+)_calls"),
        item=("record_id",), cluster="input", system="app_version", verdict=("(.+)",),
    ),
    Layout(
        name="helm", about="a HELM scenario state",
        signature=(r"instance\.id", r"annotations\..+", r"request\.model"),
        document="request_states", item=("instance.id",), system="adapter_spec.model",
        verdict=(r"annotations\.[^.]+\.((?!.*_explanation$).+)",),
    ),
    Layout(
        name="arena-hard", about="Arena-Hard judgments",
        signature=(r"games\[\]\.score", "judge", "model"),
        each="games", item=("uid", "question_id"), judge="judge", pair=("model", "baseline"),
        verdict=(r"games\[\]\.score",), empty="error", orders=("ba", "ab"), shown=True,
    ),
    Layout(
        name="wildbench", about="WildBench comparisons",
        signature=("session_id", r"assignment\.A", r"parsed_result\.choice"),
        item=("session_id",), judge=r"eval_config\.gpt", pair=("generator", "ref_generator"),
        first=("assignment.A", "generator"), verdict=("winner",), empty="error",
    ),
    Layout(
        name="healthbench", about="HealthBench results",
        signature=("completion_id", r"rubric_items\[\]\.criterion",
                   r"rubric_items\[\]\.criteria_met", r"rubric_items\[\]\.points"),
        document="metadata.example_level_metadata", each="rubric_items",
        item=("completion_id", "rubric_items[].criterion"), cluster="completion_id",
        weight="rubric_items[].points", verdict=(r"rubric_items\[\]\.criteria_met",),
        explanation="rubric_items[].explanation",
    ),
    Layout(
        name="biggen", about="BiGGen evaluations",
        signature=("id", "eval_model_name", "response_model_name", "score"),
        item=("id",), judge="eval_model_name", system="response_model_name", verdict=("score",),
        explanation="feedback",
    ),
    Layout(
        name="prometheus", about="Prometheus scores",
        signature=("instruction", r"gpt4_score\[\]"), each="gpt4_score", item=("idx",),
        verdict=(r"gpt4_score\[\]",),
    ),
    Layout(
        name="argilla", about="Argilla records",
        signature=(r"(.+)\.suggestion", r"(.+)\.responses", r"(.+)\.suggestion\.agent"),
        item=("id",), verdict=(r"(.+)\.suggestion",), label=(r"(.+)\.responses",),
        judge=r".+\.suggestion\.agent", confidence=r".+\.suggestion\.score",
    ),
    Layout(
        name="argilla-records", about="Argilla records",
        signature=(r"suggestions\.([^.]+)\.value", r"responses\.([^.\[]+).*"),
        item=("id",), verdict=(r"suggestions\.([^.]+)\.value",), label=(r"responses\.([^.\[]+)",),
        judge=r"suggestions\..+\.agent", confidence=r"suggestions\..+\.score",
    ),
    Layout(
        name="giskard-rag", about="a Giskard RAG report",
        signature=("correctness", "correctness_reason", "(?:assistant|agent)_answer"),
        item=("id",), verdict=("correctness",), explanation="correctness_reason",
    ),
    Layout(
        name="evidently", about="an Evidently dataset",
        signature=("(.+) category", "(.+) score", "(.+) reasoning"), verdict=("(.+) category",),
        confidence=".+ score", values={"UNKNOWN": "unparsed"},
    ),
    Layout(
        name="autoevals", about="autoevals scores",
        signature=(r"scores\[\]\.name", r"scores\[\]\.score"), each="scores", item=("id",),
        criterion="scores[].name", verdict=(r"scores\[\]\.score",), empty="skip",
    ),
    Layout(
        name="azure-ai-evaluation", about="an Azure AI evaluation",
        signature=(r"outputs\.([^.]+)\.\1", r"(?:inputs\.)?(?:line_number|query|response)"),
        document="rows", item=("line_number", "inputs.line_number"),
        verdict=(r"outputs\.([^.]+)\.\1",),
    ),
    Layout(
        name="bedrock-evaluation", about="a Bedrock evaluation",
        signature=(r"inputRecord\.prompt",
                   r"automatedEvaluationResult\.scores\[\]\.metricName"),
        each="automatedEvaluationResult.scores", item=("inputRecord.prompt",),
        criterion="automatedEvaluationResult.scores[].metricName",
        judge=r"automatedEvaluationResult\.scores\[\]\.evaluatorDetails\[\]\.modelIdentifier",
        system="modelResponses[].modelIdentifier",
        verdict=(r"automatedEvaluationResult\.scores\[\]\.result",),
        explanation="automatedEvaluationResult.scores[].evaluatorDetails[].explanation",
    ),
)  # fmt: skip
"""The declared layouts; a file that fits one is read without options."""


def layout_columns(columns: Collection[str]) -> tuple[set[str], set[str]]:
    """Of a table's columns those that are names, and those that hold verdicts, by the layouts."""
    fitting = [layout for layout in LAYOUTS if layout.stems(columns) is not None]
    served = {c for layout in fitting for c in columns if layout.serves(c)}
    names = {c for layout in fitting for c in columns if c in layout.names}
    return names, served - names
