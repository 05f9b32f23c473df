import pickle

import pytest

from judgestats.collection import DEFAULT_BASE_URL, Secret, parse_judge
from judgestats.errors import InputError, printable

PLANTED = "sk-planted-4711-do-not-leak"


def test_a_plain_name_is_a_model_at_openai():
    spec = parse_judge("gpt-4o-mini", environ={"OPENAI_API_KEY": PLANTED})
    assert (spec.model, spec.base_url) == ("gpt-4o-mini", DEFAULT_BASE_URL)
    assert not spec.simulated
    assert spec.key.reveal() == PLANTED


def test_openai_needs_a_key_and_says_what_else_there_is():
    with pytest.raises(InputError, match=r"OPENAI_API_KEY.*sim-typical"):
        parse_judge("gpt-4o-mini", environ={})


def test_base_url_comes_from_the_name_then_the_argument_then_the_environment():
    env = {"OPENAI_BASE_URL": "http://env:1/v1"}
    assert parse_judge("m", environ=env).base_url == "http://env:1/v1"
    assert parse_judge("m", base_url="http://arg:1/v1/", environ=env).base_url == "http://arg:1/v1"
    named = parse_judge("m@http://name:1/v1", base_url="http://arg:1/v1", environ=env)
    assert (named.model, named.base_url) == ("m", "http://name:1/v1")


def test_an_unknown_simulated_judge_lists_the_known_ones():
    with pytest.raises(InputError, match=r"sim-typo.*sim-typical"):
        parse_judge("sim-typo", environ={})


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "m@http://",
        "m@http://host:notaport/v1",
        "m@http://user:pw@host/v1",
        "m@http://host/v1?api_key=x",
        "m@http://ho st/v1",
    ],
)
def test_bad_names_are_named(name):
    with pytest.raises(InputError):
        parse_judge(name, environ={})


def test_the_openai_key_goes_to_openai_or_where_its_own_variable_points():
    env = {"OPENAI_API_KEY": PLANTED}

    def key(name, **more):
        return parse_judge(name, environ=env | more).key.reveal()

    assert key("gpt-4o") == PLANTED
    for address in (
        "http://gpu-box:8000/v1",
        "http://localhost:8000/v1",
        "https://api.example.org/v1",
    ):
        assert key(f"m@{address}") != PLANTED
        assert key(f"m@{address}", JUDGESTATS_API_KEY="own") == "own"
    assert key("m", OPENAI_BASE_URL="https://api.example.org/v1/") == PLANTED
    assert key("m", OPENAI_BASE_URL="http://localhost:8000/v1") == PLANTED
    assert key("m", OPENAI_BASE_URL="http://gpu-box:8000/v1") != PLANTED  # in clear
    both = {"OPENAI_BASE_URL": "https://api.example.org/v1", "JUDGESTATS_API_KEY": "own"}
    assert key("m@https://elsewhere.example/v1", **both) == "own"


def test_a_provider_gets_its_own_key():
    env = {"OPENAI_API_KEY": PLANTED, "ANTHROPIC_API_KEY": "ant-key"}
    spec = parse_judge("claude-haiku-4-5@https://api.anthropic.com/v1", environ=env)
    assert spec.key.reveal() == "ant-key"
    with pytest.raises(InputError, match="Set MISTRAL_API_KEY"):
        parse_judge("mistral-small@https://api.mistral.ai/v1", environ=env)
    with pytest.raises(InputError, match="Set GROQ_API_KEY"):
        parse_judge("m@https://eu.api.groq.com/openai/v1", environ=env)


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("llama3@localhost:11434", "llama3@http://localhost:11434/v1"),
        ("llama3@gpu-box:8000/v1", "llama3@http://gpu-box:8000/v1"),
        ("llama3@10.0.0.7", "llama3@http://10.0.0.7/v1"),
        ("m@api.example.org/v1", "m@http://api.example.org/v1"),
    ],
)
def test_an_address_without_a_scheme_is_refused_with_the_right_spelling(name, right):
    with pytest.raises(InputError) as refused:
        parse_judge(name, environ={"OPENAI_API_KEY": PLANTED})
    assert right in str(refused.value)


@pytest.mark.parametrize("host", ["a..b", f"{'x' * 64}.org"])
def test_an_address_of_no_host_is_refused_before_it_is_asked(host):
    with pytest.raises(InputError, match="the base URL is malformed"):
        parse_judge(f"m@http://{host}/v1", environ={})


@pytest.mark.parametrize("name", ["claude-opus-4@20250514", "@cf/meta/llama-3", "m@v1.2"])
def test_a_model_may_have_an_at_in_its_name(name):
    assert parse_judge(name, environ={"OPENAI_API_KEY": PLANTED}).model == name


def test_an_unsendable_key_is_refused_without_being_shown():
    with pytest.raises(InputError) as caught:
        parse_judge("gpt-4o", environ={"OPENAI_API_KEY": "sk-a b"})
    assert "sk-a" not in str(caught.value)


def test_a_secret_never_prints_nor_pickles():
    spec = parse_judge("m", environ={"OPENAI_API_KEY": PLANTED})
    assert PLANTED not in f"{spec} {spec!r} {spec.key} {spec.key!r} {spec.key:>40}"
    with pytest.raises(TypeError):
        pickle.dumps(Secret(PLANTED))


@pytest.mark.parametrize(
    "name",
    [
        "http://me:hunter22@host/v1",
        "m@http://me:hunter22@host/v1",
        "m@http://host/v1?key=hunter22",
        "m@http://host/\x1b[2Jv1",
        "m\x1b]0;title\x07",
        "a\nb",
    ],
)
def test_a_judge_that_hides_a_password_or_moves_the_cursor_is_refused(name):
    with pytest.raises(InputError) as refused:
        parse_judge(name, environ={"OPENAI_API_KEY": "k" * 20})
    assert "hunter22" not in str(refused.value)
    assert printable(str(refused.value)) == str(refused.value)


def test_an_address_that_may_hold_a_password_is_not_repeated():
    with pytest.raises(InputError, match="holds an @"):
        parse_judge("m", base_url="me:hunter22@host/v1", environ={})


def test_a_model_name_may_hold_an_at_sign():
    assert parse_judge("org/m@v2@http://h:1/v1", environ={}).model == "org/m@v2"


def test_a_password_in_a_url_is_not_repeated():
    with pytest.raises(InputError) as caught:
        parse_judge("m@http://user:hunter2@host/v1", environ={})
    assert "hunter2" not in str(caught.value)
