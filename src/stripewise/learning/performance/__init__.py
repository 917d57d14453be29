# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
"""Performance models: trained once for a machine, used for every program on it."""

from typing import TYPE_CHECKING

from stripewise.core.lazy import lazy_exports

if TYPE_CHECKING:
    from stripewise.learning.performance._features import class_of_program as class_of_program
    from stripewise.learning.performance._fit import fit as fit
    from stripewise.learning.performance._fit import fit_coefficients as fit_coefficients
    from stripewise.learning.performance._fit import fit_terms as fit_terms
    from stripewise.learning.performance._fitted import Fitted as Fitted
    from stripewise.learning.performance._fitted import fitted_prediction as fitted_prediction
    from stripewise.learning.performance._ground import PACKED_MODELS as PACKED_MODELS
    from stripewise.learning.performance._ground import TABLES as TABLES
    from stripewise.learning.performance._ground import Ground as Ground
    from stripewise.learning.performance._ground import ground_of as ground_of
    from stripewise.learning.performance._ground import ground_on as ground_on
    from stripewise.learning.performance._ground import own_models as own_models
    from stripewise.learning.performance._ground import site_models as site_models
    from stripewise.learning.performance._judge import Validated as Validated
    from stripewise.learning.performance._judge import score_of as score_of
    from stripewise.learning.performance._judge import validated as validated
    from stripewise.learning.performance._points import MOST_PRIOR as MOST_PRIOR
    from stripewise.learning.performance._points import Corrected as Corrected
    from stripewise.learning.performance._points import Positions as Positions
    from stripewise.learning.performance._points import Residuals as Residuals
    from stripewise.learning.performance._points import distinct as distinct
    from stripewise.learning.performance._points import predict as predict
    from stripewise.learning.performance._points import prior_of as prior_of
    from stripewise.learning.performance._records import BOOSTED as BOOSTED
    from stripewise.learning.performance._records import REGRESSION as REGRESSION
    from stripewise.learning.performance._records import Model as Model
    from stripewise.learning.performance._records import Prediction as Prediction
    from stripewise.learning.performance._records import Range as Range
    from stripewise.learning.performance._records import Score as Score
    from stripewise.learning.performance._records import Term as Term
    from stripewise.learning.performance._records import Training as Training
    from stripewise.learning.performance._records import TrainingSample as TrainingSample
    from stripewise.learning.performance._records import Tree as Tree
    from stripewise.learning.performance._records import Way as Way
    from stripewise.learning.performance._report import draw_model as draw_model
    from stripewise.learning.performance._report import model_json as model_json
    from stripewise.learning.performance._report import model_lines as model_lines
    from stripewise.learning.performance._report import models_json as models_json
    from stripewise.learning.performance._report import models_lines as models_lines
    from stripewise.learning.performance._report import validated_lines as validated_lines
    from stripewise.learning.performance._rows import samples_in_numbers as samples_in_numbers
    from stripewise.learning.performance._store import Loaded as Loaded
    from stripewise.learning.performance._store import load_models as load_models
    from stripewise.learning.performance._store import make_home as make_home
    from stripewise.learning.performance._store import model_from_json as model_from_json
    from stripewise.learning.performance._store import model_id as model_id
    from stripewise.learning.performance._store import model_to_json as model_to_json
    from stripewise.learning.performance._store import save_model as save_model
else:
    __getattr__, __all__ = lazy_exports(__name__)
