# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models of performance: trained once for a machine, asked for every program on it."""

from typing import TYPE_CHECKING

from stripewise._lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.performance._codec import model_from_json as model_from_json
    from stripewise.performance._codec import model_to_json as model_to_json
    from stripewise.performance._features import class_of_program as class_of_program
    from stripewise.performance._fit import fit as fit
    from stripewise.performance._fitted import Fitted as Fitted
    from stripewise.performance._fitted import fitted_prediction as fitted_prediction
    from stripewise.performance._ground import Ground as Ground
    from stripewise.performance._ground import ground_of as ground_of
    from stripewise.performance._homes import PACKED_MODELS as PACKED_MODELS
    from stripewise.performance._homes import TABLES as TABLES
    from stripewise.performance._homes import own_models as own_models
    from stripewise.performance._homes import site_models as site_models
    from stripewise.performance._judge import score_of as score_of
    from stripewise.performance._points import Places as Places
    from stripewise.performance._points import distinct as distinct
    from stripewise.performance._points import predict as predict
    from stripewise.performance._prediction import Prediction as Prediction
    from stripewise.performance._records import BOOSTED as BOOSTED
    from stripewise.performance._records import REGRESSION as REGRESSION
    from stripewise.performance._records import Model as Model
    from stripewise.performance._records import Range as Range
    from stripewise.performance._records import Sample as Sample
    from stripewise.performance._records import Score as Score
    from stripewise.performance._records import Term as Term
    from stripewise.performance._records import Training as Training
    from stripewise.performance._records import Tree as Tree
    from stripewise.performance._regression import fit_coefficients as fit_coefficients
    from stripewise.performance._regression import fit_terms as fit_terms
    from stripewise.performance._residuals import MOST_PRIOR as MOST_PRIOR
    from stripewise.performance._residuals import Corrected as Corrected
    from stripewise.performance._residuals import Residuals as Residuals
    from stripewise.performance._residuals import prior_of as prior_of
    from stripewise.performance._rows import samples_in_numbers as samples_in_numbers
    from stripewise.performance._store import Loaded as Loaded
    from stripewise.performance._store import load_models as load_models
    from stripewise.performance._store import made_home as made_home
    from stripewise.performance._store import model_id as model_id
    from stripewise.performance._store import read_model as read_model
    from stripewise.performance._store import save_model as save_model
    from stripewise.performance._validated import Validated as Validated
    from stripewise.performance._validated import validated as validated
else:
    __getattr__, __all__ = lazy_exports(__name__)
