"""factor_analyzer works with any scikit-learn, and the wrapper is a no-op where none is needed."""

import importlib

import numpy as np
import pytest
from sklearn.utils import check_array

from judgestats.stats import reliability


def old_check_array(X, *, force_all_finite=True):
    return "old", force_all_finite


def new_check_array(X, *, ensure_all_finite=True):
    return "new", ensure_all_finite


def test_old_name_is_left_alone_where_it_is_known():
    wrapped = reliability.translate_finite_argument(old_check_array)
    assert wrapped is old_check_array
    assert wrapped([1], force_all_finite="allow-nan") == ("old", "allow-nan")


def test_old_name_is_translated_where_it_is_gone():
    with pytest.raises(TypeError):
        new_check_array([1], force_all_finite="allow-nan")
    wrapped = reliability.translate_finite_argument(new_check_array)
    assert wrapped([1], force_all_finite="allow-nan") == ("new", "allow-nan")
    assert wrapped([1]) == ("new", True)


def test_install_mends_both_modules_once_and_leaves_scikit_learn_alone():
    reliability.install()
    functions = [importlib.import_module(name).check_array for name in reliability.MODULES]
    reliability.install()
    assert [importlib.import_module(name).check_array for name in reliability.MODULES] == functions
    from sklearn.utils import check_array as untouched

    assert untouched is check_array
    for function in functions:
        assert function(np.ones((2, 2)), force_all_finite=True).shape == (2, 2)


def both_check_array(X, *, force_all_finite="deprecated", ensure_all_finite=None):
    return force_all_finite, ensure_all_finite


def test_old_name_is_not_used_where_it_is_deprecated():
    wrapped = reliability.translate_finite_argument(both_check_array)
    assert wrapped([1], force_all_finite=True) == ("deprecated", True)
