"""Steps and friction of SGGMC and gSGNHT that tune themselves in warm-up.

The step is 1/sqrt(curvature). The gradient's noise V, measured from each batch, heats by h^2 V / (2 C h): the friction
is the one at which this is `HEAT`, at least `LEAST_FRICTION` (which lets topics travel) and at most `FRICTION` (beyond,
the step shrinks instead); this heat is taken from the injected noise. So v.v/m stays near one (erratum c-2). Warm-up
begins hot and cools. The thermostat is as fast as the friction: mass 1/C^2 (erratum c-4).

What is learnt is kept in the numbers of the state, so a resumed run goes on with it.
"""

from __future__ import annotations

import math

from orthodrome.models.sam.batch import Slope
from orthodrome.models.sam.law import Law
from orthodrome.models.sam.plan import Plan

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

Numbers = dict[str, float]


class Tuning:
    """The step sizes and the friction of a chain, given or learnt."""

    def __init__(self, plan: Plan, law: Law) -> None:
        self.plan, self.law = plan, law

    def begin(self, num_topics: int) -> Numbers:
        """Nothing learnt yet."""
        step = math.log(self._first_proportion_step(num_topics))
        return {"looks": 0, "noise": 0.0, "curvature": 0.0, "log_proportion_step": step, "heat": HEAT}

    def _first_proportion_step(self, num_topics: int) -> float:
        if self.plan.proportion_step is not None:
            return self.plan.proportion_step
        step = 0.5 / math.sqrt(4 * self.law.doc_topic_prior * num_topics + self.law.document_concentration)
        return 2 * step / math.sqrt(num_topics) if self.plan.sweep.flat else step

    def cool(self, numbers: Numbers, left: float) -> None:
        """The heat when this share of the warm-up is left."""
        hot = max(HOT, WANDER * numbers["curvature"] / self.law.num_words)
        numbers["heat"] = HEAT * (hot / HEAT) ** (max(0.0, left - COOL) / (1 - COOL))

    def thermostatic(self, numbers: Numbers) -> bool:
        """The thermostat waits until the warm-up has cooled: it would take the heat away."""
        return self.plan.thermostat and (numbers["heat"] <= HEAT or self.plan.step_size is not None)

    def step_size(self, numbers: Numbers) -> float:
        """h."""
        return self._tuned(numbers)[0] if self.plan.step_size is None else self.plan.step_size

    def friction(self, numbers: Numbers) -> float:
        """C."""
        given = self.plan.friction
        return self._tuned(numbers)[1] / self.step_size(numbers) if given is None else given

    def mass(self, numbers: Numbers) -> float:
        """Of the thermostat."""
        given = self.plan.thermostat_mass
        return 1 / self.friction(numbers) ** 2 if given is None else given

    def _tuned(self, numbers: Numbers) -> tuple[float, float]:
        """h and C h: the step that the curvature allows and the friction that its noise wants, or a smaller step."""
        noise, heat = numbers["noise"], numbers["heat"]
        h = FRACTION / math.sqrt(numbers["curvature"]) if self.plan.step_size is None else self.plan.step_size
        rate = max(h * h * noise / (2 * heat), LEAST_FRICTION)
        return (h, rate) if rate <= FRICTION else (math.sqrt(2 * FRICTION * heat / noise), FRICTION)

    def learn(self, numbers: Numbers, found: Slope, quickly: bool = True) -> None:
        """Running means of the noise and the curvature: they forget in warm-up, and settle after it."""
        before = self.friction(numbers) if numbers["looks"] else None
        numbers["looks"] += 1
        rate = max(1 / numbers["looks"], MEMORY if quickly else 0.0)
        numbers["noise"] += rate * (found.noise - numbers["noise"])
        numbers["curvature"] += rate * (found.curvature - numbers["curvature"])
        if before is not None and "thermostat" in numbers:
            numbers["thermostat"] *= self.friction(numbers) / before

    def learn_proportions(self, numbers: Numbers, acceptance: float, num_topics: int) -> None:
        """Towards the acceptance wanted, at most a quarter turn divided by the root of the dimension."""
        if self.plan.proportion_step is not None:
            return
        rate = max((1 + numbers["looks"] / 10) ** -0.6, 0.02)
        moved = numbers["log_proportion_step"] + rate * (acceptance - TARGET)
        numbers["log_proportion_step"] = min(moved, math.log(math.pi / 2 / math.sqrt(max(1, num_topics - 1))))
