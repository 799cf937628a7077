"""Steps and friction of SGGMC and gSGNHT that tune themselves in warm-up.

The step is 1/sqrt(curvature). The gradient's noise V, measured from each batch, heats by h^2 V / (2 C h): the friction
is the one at which this is `HEAT`, at least `LEAST_FRICTION` (which lets topics travel) and at most `FRICTION` (beyond,
the step shrinks instead); this heat is taken from the injected noise. So v.v/m stays near one (erratum c-2). Warm-up
begins hot and cools. The thermostat is as fast as the friction: mass 1/C^2 (erratum c-4).

What is learnt is in the state (`TopicTuning`), so a resumed run goes on with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from orthodrome.models.sam.batch import Glance
from orthodrome.models.sam.chain_settings import ChainSettings
from orthodrome.models.sam.law import AdmixtureLaw
from orthodrome.models.sam.state import TopicTuning

FRICTION, LEAST_FRICTION = 0.3, 0.02
"""C h at most and at least: a velocity is forgotten after 3 to 50 steps."""
HEAT, FRACTION = 0.1, 1.0
HOT, WANDER, COOL = 10.0, 0.004, 0.3
"""The heat at the beginning of warm-up is at least HOT, and as much as moves a topic by the root of WANDER radians from
where it belongs: with many documents the law is so narrow that heat does no harm, and large steps find it sooner. It
cools geometrically until the fraction COOL of the warm-up is left."""
MEMORY = 0.03
"""The share of the newest batch in what the tuning remembers during warm-up."""
TARGET = 0.8
"""Of the acceptance of the proportions' moves."""


@dataclass(frozen=True)
class TopicTuner:
    """The step sizes and the friction of a chain, given by its settings or learnt."""

    settings: ChainSettings
    law: AdmixtureLaw

    def begin(self, num_topics: int) -> TopicTuning:
        """Return the tuning of a chain that has learnt nothing yet."""
        return TopicTuning(0.0, 0.0, 0.0, math.log(self._first_proportion_step(num_topics)), HEAT)

    def _first_proportion_step(self, num_topics: int) -> float:
        if self.settings.proportion_step is not None:
            return self.settings.proportion_step
        step = 0.5 / math.sqrt(4 * self.law.doc_topic_prior * num_topics + self.law.document_concentration)
        return 2 * step / math.sqrt(num_topics) if self.settings.sweep.flat else step

    def cooled(self, tuning: TopicTuning, left: float) -> TopicTuning:
        """Return the tuning with the heat for when this share of the warm-up is left."""
        hot = max(HOT, WANDER * tuning.curvature / self.law.num_words)
        return tuning._replace(heat=HEAT * (hot / HEAT) ** (max(0.0, left - COOL) / (1 - COOL)))

    def thermostatic(self, tuning: TopicTuning) -> bool:
        """Return whether the thermostat works: not before the warm-up has cooled, or it would remove the extra heat."""
        return self.settings.thermostat and (tuning.heat <= HEAT or self.settings.step_size is not None)

    def step_size(self, tuning: TopicTuning) -> float:
        """Return the step size h."""
        return self._tuned(tuning)[0] if self.settings.step_size is None else self.settings.step_size

    def friction(self, tuning: TopicTuning) -> float:
        """Return the friction C."""
        given = self.settings.friction
        return self._tuned(tuning)[1] / self.step_size(tuning) if given is None else given

    def mass(self, tuning: TopicTuning) -> float:
        """Return the mass of the thermostat."""
        given = self.settings.thermostat_mass
        return 1 / self.friction(tuning) ** 2 if given is None else given

    def _tuned(self, tuning: TopicTuning) -> tuple[float, float]:
        """Return h and C h: the step the curvature allows and the friction that its noise needs, or a smaller step."""
        given = self.settings.step_size
        h = FRACTION / math.sqrt(tuning.curvature) if given is None else given
        rate = max(h * h * tuning.noise / (2 * tuning.heat), LEAST_FRICTION)
        return (h, rate) if rate <= FRICTION else (math.sqrt(2 * FRICTION * tuning.heat / tuning.noise), FRICTION)

    def learnt(self, tuning: TopicTuning, found: Glance, quickly: bool = True) -> TopicTuning:
        """Return running means of the noise and the curvature: they forget in warm-up, and settle after it."""
        looks = tuning.looks + 1
        rate = max(1 / looks, MEMORY if quickly else 0.0)
        noise = tuning.noise + rate * (found.noise - tuning.noise)
        curvature = tuning.curvature + rate * (found.curvature - tuning.curvature)
        return tuning._replace(looks=looks, noise=noise, curvature=curvature)

    def learnt_proportions(self, tuning: TopicTuning, acceptance: float, num_topics: int) -> TopicTuning:
        """Move the step towards the wanted acceptance, at most a quarter turn over the root of the dimension."""
        if self.settings.proportion_step is not None:
            return tuning
        rate = max((1 + tuning.looks / 10) ** -0.6, 0.02)
        moved = tuning.log_proportion_step + rate * (acceptance - TARGET)
        most = math.log(math.pi / 2 / math.sqrt(max(1, num_topics - 1)))
        return tuning._replace(log_proportion_step=min(moved, most))
