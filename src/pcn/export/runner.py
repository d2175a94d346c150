"""The runner beside an exported model: a Python file that needs NumPy and onnxruntime only."""

import json
from collections.abc import Iterator
from typing import Any

from pcn.version import __version__

MARK = "Written by pcn"
"""Stands in the first line of every file that is written beside a model."""


def runner_source(facts: dict[str, Any], model_name: str) -> str:
    """The source of the runner for one model: only the lines that this model needs."""
    return "\n".join(_lines(facts, model_name)) + "\n"


def is_for_another_model(source: str, model_name: str) -> bool:
    """Whether a runner was written for another model than the one of this name."""
    first = source.partition("\n")[0]
    # Up to 0.2.0 names stood there without quotes.
    return not any(f" {name}; " in first for name in (_quoted(model_name), model_name))


def _quoted(name: str) -> str:
    """A name as it stands in the source."""
    return json.dumps(name, ensure_ascii=False)


def _lines(facts: dict[str, Any], model_name: str) -> Iterator[str]:
    kinds = {rule["kind"] for rule in facts["networks"]}
    commanded, remembers = kinds != {"none"}, facts["pictures"] is not None
    masked, several = facts["mask_size"] > 0, len(facts["networks"]) > 1
    choose = len(facts["policies"]) > 1
    floored = any("lower_bound" in rule for rule in facts["networks"])
    name = _quoted(model_name)
    yield f'"""{MARK} {__version__}: acts with {name}; needs numpy and onnxruntime only."""'
    yield ""
    yield "import json"
    yield "from pathlib import Path"
    yield ""
    yield "import numpy as np"
    yield "import onnxruntime"
    yield from ["from PIL import Image"] if remembers else []
    yield ""
    yield ""
    yield "class Policy:"
    yield '    """Call `act`, then `observe` with the reward; `reset` begins an episode."""'
    yield ""
    yield f"    def __init__(self, {'policy, ' if choose else ''}model=None):"
    yield f"        model = model or Path(__file__).with_name({name})"
    yield "        options = onnxruntime.SessionOptions()"
    yield "        options.intra_op_num_threads = 1"
    yield "        self.session = onnxruntime.InferenceSession(model, options)"
    yield '        self.facts = json.loads(self.session.get_modelmeta().custom_metadata_map["pcn"])'
    index = "policy" if choose else "0"
    yield f'        self.start = self.facts["policies"][{index}]'
    if commanded:
        yield '        rule = self.facts["networks"][self.start["network"]]'
        yield '        self.discount = np.float32(self.facts["discount"])'
        yield '        self.bound = np.array(rule["upper_bound"], np.float32)'
        if floored:
            yield '        self.floor = np.array(rule.get("lower_bound", -np.inf), np.float32)'
        yield from ['        self.kind = rule["kind"]'] if len(kinds) > 1 else []
        if "expectations" in kinds:
            yield from _expectation_fields(several=len(kinds) > 1)
    yield "        self.reset()"
    yield ""
    if commanded:
        yield "    def reset(self, desired_return=None, desired_horizon=None):"
        for kept, given in (("wanted", "desired_return"), ("horizon", "desired_horizon")):
            yield f'        {kept} = self.start["{given}"] if {given} is None else {given}'
        yield "        self.want = np.minimum(np.array(wanted, np.float32), self.bound)"
        yield "        self.horizon = np.float32(horizon)"
    else:
        yield "    def reset(self):"
    if remembers:
        yield "        self.frames = []"
    elif not commanded:
        yield "        pass  # a policy without a command remembers nothing"
    yield ""
    yield f"    def act(self, observation{', action_mask' if masked else ''}):"
    if remembers:
        yield from _picture_lines(facts["pictures"])
    yield from _inputs(facts["observation"])
    if commanded:
        command = '{"desired_return": self.want[None], "desired_horizon": self.horizon[None]}'
        yield f"        inputs |= {command}"
    if masked:
        mask = f"np.hstack(action_mask).astype(bool).reshape(1, {facts['mask_size']})"
        yield f'        inputs["action_mask"] = {mask}'
    if several:
        yield '        inputs["network"] = np.array(self.start["network"])'
    if "expectations" in kinds:
        yield '        action, (self.expected,) = self.session.run(["action", "expected"], inputs)'
    else:
        yield '        (action,) = self.session.run(["action"], inputs)'
    yield f"        return {'action[0]' if facts['action']['shape'] else 'int(action[0])'}"
    yield ""
    yield "    def observe(self, reward):"
    if not commanded:
        yield "        pass"
        return
    yield from _observing(kinds, floored=floored)
    yield "        self.horizon = np.maximum(self.horizon - np.float32(1), np.float32(1))"


def _inputs(parts: list[dict[str, Any]]) -> Iterator[str]:
    """The observation as inputs of the model, a line for each part."""
    for number, part in enumerate(parts):
        place = "".join(f"[{json.dumps(step)}]" for step in part["path"])
        shape = ", ".join(map(str, [1, *part["shape"]]))
        array = f'np.asarray(observation{place}, "{part["dtype"]}").reshape({shape})'
        sign = "|=" if number else "="
        yield f"        inputs {sign} {{{json.dumps(part['input'])}: {array}}}"


def _expectation_fields(*, several: bool) -> Iterator[str]:
    space = "            " if several else "        "
    yield from ['        if self.kind == "expectations":'] if several else []
    yield f'{space}self.random = np.array(rule["random_rewards"], bool)'
    yield f'{space}self.lowest = np.array(rule["lowest"], np.float32)'
    yield f'{space}self.highest = np.array(rule["highest"], np.float32)'
    yield f'{space}self.least = np.float32(rule["least_survival"])'


def _picture_lines(pictures: dict[str, Any]) -> Iterator[str]:
    """What `ObservationReader` does with pictures, of bytes or of real numbers."""
    side, frames, factor = pictures["side"], pictures["frames"], pictures["factor"]
    yield f"        picture = np.rint(np.asarray(observation) * {factor})"
    yield "        picture = np.squeeze(np.clip(picture, 0, 255).astype(np.uint8))"
    yield '        grey = Image.fromarray(picture).convert("L")'
    yield f"        frame = np.asarray(grey.resize(({side}, {side}), Image.Resampling.BOX))"
    yield f"        frames = [*(self.frames or [frame] * {frames}), frame]"
    yield f"        observation = self.frames = frames[-{frames}:]"


FLOOR = "self.want = np.maximum(self.want, self.floor)"
"""The line of models whose desired returns have a lower bound."""
_RULES = {
    "rewards": [
        "left = (self.want - np.asarray(reward, np.float32)) / self.discount",
        "self.want = np.minimum(left, self.bound)",
        FLOOR,
    ],
    "expectations": [
        "came = np.asarray(reward, np.float32)",
        "deducted = np.where(self.random, self.expected[:-1], came)",
        "survival = np.maximum(self.expected[-1], self.least)",
        "left = (self.want - deducted) / (self.discount * survival)",
        "self.want = np.clip(left, self.lowest, self.highest)",
    ],
}
"""How the desired return changes with a step; the others keep it."""


def _observing(kinds: set[str], *, floored: bool) -> Iterator[str]:
    for kind, rule in _RULES.items():
        if kind not in kinds:
            continue
        lines = [line for line in rule if floored or line != FLOOR]
        if len(kinds) == 1:
            yield from (f"        {line}" for line in lines)
        else:
            yield f'        if self.kind == "{kind}":'
            yield from (f"            {line}" for line in lines)
