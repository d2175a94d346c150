"""The runner beside an exported model: a Python file that needs NumPy and onnxruntime only."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pcn.version import __version__

MARK = "Written by pcn"
"""A mark in the first line of every file that is written beside a model."""


def runner_source(facts: dict[str, Any], model_name: str, *, whole: bool = False) -> str:
    """The source of the runner for one model: only the lines that this model needs.

    The runner of a `whole` run takes the number of a policy, and reads its command from the
    metadata.
    """
    return "\n".join(_lines(facts, model_name, whole)) + "\n"


def is_for_another_model(source: str, model_name: str) -> bool:
    """Whether a runner was written for another model than the one of this name."""
    first = source.partition("\n")[0]
    # Up to 0.2.0 names had no quotes there.
    return not any(f" {name}; " in first for name in (_quoted(model_name), model_name))


def _quoted(name: str) -> str:
    """A name as it stands in the source."""
    return json.dumps(name, ensure_ascii=False)


def _lines(facts: dict[str, Any], model_name: str, choose: bool) -> Iterator[str]:
    kinds = {rule["kind"] for rule in facts["networks"]}
    commanded, pictures = kinds != {"none"}, facts["pictures"]
    several, mask_size = len(facts["networks"]) > 1, facts["mask_size"]
    name = _quoted(model_name)
    yield f'"""{MARK} {__version__}: acts with {name}; needs numpy and onnxruntime only."""'
    yield ""
    yield from ["import json"] if choose else []
    yield "from pathlib import Path"
    yield ""
    yield "import numpy as np"
    yield "import onnxruntime"
    yield from ["from PIL import Image"] if pictures else []
    yield ""
    constants = [] if several else [f"{one.constant} = {one.literal()}" for one in _numbers(facts)]
    yield from [*constants, "", ""] if constants else [""]
    yield "class Policy:"
    yield '    """Call `act`, then `observe` with the reward; `reset` begins an episode."""'
    yield ""
    chosen = "policy, " if choose else ""
    yield f"    def __init__(self, {chosen}model=Path(__file__).with_name({name})):"
    yield "        options = onnxruntime.SessionOptions()"
    yield "        options.intra_op_num_threads = 1"
    yield "        self.session = onnxruntime.InferenceSession(model, options)"
    if choose:
        metadata = 'self.session.get_modelmeta().custom_metadata_map["pcn"]'
        yield f"        self.facts = json.loads({metadata})"
        yield '        self.start = self.facts["policies"][policy]'
    if several and commanded:
        yield '        rule = self.facts["networks"][self.start["network"]]'
        yield from ['        self.kind = rule["kind"]'] if len(kinds) > 1 else []
        yield from (f"        {one.attribute} = {one.looked_up()}" for one in _numbers(facts))
    yield "        self.reset()"
    yield ""
    yield from _reset(facts, commanded=commanded, choose=choose)
    yield ""
    yield f"    def act(self, observation{', action_mask' if mask_size else ''}):"
    yield from _picture_lines(pictures) if pictures else []
    yield from _inputs(facts["observation"])
    if commanded:
        command = '{"desired_return": self.want[None], "desired_horizon": self.horizon[None]}'
        yield f"        inputs |= {command}"
    if mask_size:
        mask = f"np.hstack(action_mask).astype(bool).reshape(1, {mask_size})"
        yield f'        inputs["action_mask"] = {mask}'
    if several:
        yield '        inputs["network"] = np.array(self.start["network"])'
    action = 'self.session.run(["action"], inputs)[0][0]'
    if "expectations" in kinds:
        yield '        action, (self.expected,) = self.session.run(["action", "expected"], inputs)'
        action = "action[0]"
    yield f"        return {action if facts['action']['shape'] else f'int({action})'}"
    yield ""
    yield "    def observe(self, reward):"
    if not commanded:
        yield "        pass"
        return
    yield from _observing(kinds, facts)
    yield "        self.horizon = np.float32(max(self.horizon - 1, 1))"


@dataclass(frozen=True)
class _Number:
    """Numbers of a rule for commands: literals, or read from the metadata."""

    key: str
    """Its name in the metadata."""
    constant: str
    """Its name in the file where all policies follow one rule."""
    values: list[Any] | None
    """None where rules differ: then it is an attribute."""
    otherwise: str = ""
    """The value for rules that have no such numbers."""

    @property
    def attribute(self) -> str:
        """Its name where rules differ."""
        return f"self.{self.constant.lower()}"

    @property
    def name(self) -> str:
        """Its name in the lines that use it."""
        return self.attribute if self.values is None else self.constant

    def literal(self) -> str:
        """The numbers, as short as single precision has them."""
        assert self.values is not None
        if isinstance(self.values[0], bool):
            return f"np.array({self.values})"
        return f"np.float32([{', '.join(str(np.float32(one)) for one in self.values)}])"

    def looked_up(self) -> str:
        """The numbers of the rule that a policy follows."""
        return f'np.float32(rule.get("{self.key}", {self.otherwise}))'


_UNBOUNDED = float(np.finfo(np.float32).max)
"""The number that means infinity in the metadata."""


def _numbers(facts: dict[str, Any]) -> list[_Number]:
    """The numbers that the rules of a model need; infinite bounds are left out."""
    rules = facts["networks"]
    needed = {
        "upper_bound": ("HIGHEST", "np.inf"),
        "lower_bound": ("LOWEST", "-np.inf"),
        "random_rewards": ("RANDOM", "0"),
        "lowest": ("LEAST", "0"),
        "highest": ("MOST", "0"),
        "least_survival": ("SURVIVAL", "0"),
    }
    return [
        _Number(
            key,
            constant,
            np.atleast_1d(rules[0][key]).tolist() if len(rules) == 1 else None,
            otherwise,
        )
        for key, (constant, otherwise) in needed.items()
        if any(np.any(np.abs(rule.get(key, _UNBOUNDED)) < _UNBOUNDED) for rule in rules)
    ]


def _reset(facts: dict[str, Any], *, commanded: bool, choose: bool) -> Iterator[str]:
    """How an episode begins."""
    if not commanded:
        yield "    def reset(self):"
        if facts["pictures"] is None:
            yield "        pass  # a policy without a command remembers nothing"
    elif choose:
        yield "    def reset(self, desired_return=None, desired_horizon=None):"
        for kept, given in (("wanted", "desired_return"), ("horizon", "desired_horizon")):
            yield f'        {kept} = self.start["{given}"] if {given} is None else {given}'
    else:
        (start,) = facts["policies"]
        numbers = ", ".join(str(np.float32(one)) for one in start["desired_return"])
        steps = np.float32(start["desired_horizon"])
        yield f"    def reset(self, desired_return=({numbers}), desired_horizon={steps}):"
    if commanded:
        names = {one.key: one.name for one in _numbers(facts)}
        wanted, horizon = ("wanted", "horizon") if choose else ("desired_return", "desired_horizon")
        bounded = _bounded(f"np.float32({wanted})", "minimum", names.get("upper_bound"))
        yield f"        self.want = {bounded}"
        yield f"        self.horizon = np.float32({horizon})"
    if facts["pictures"] is not None:
        yield "        self.frames = []"


def _bounded(expression: str, function: str, bound: str | None) -> str:
    """The expression with a bound, where there is one."""
    return expression if bound is None else f"np.{function}({expression}, {bound})"


def _inputs(parts: list[dict[str, Any]]) -> Iterator[str]:
    """The observation as inputs of the model, a line for each part."""
    for number, part in enumerate(parts):
        place = "".join(f"[{json.dumps(step)}]" for step in part["path"])
        shape = ", ".join(map(str, [1, *part["shape"]]))
        array = f'np.asarray(observation{place}, "{part["dtype"]}").reshape({shape})'
        sign = "|=" if number else "="
        yield f"        inputs {sign} {{{json.dumps(part['input'])}: {array}}}"


def _picture_lines(pictures: dict[str, Any]) -> Iterator[str]:
    """The lines that do the same with pictures as `ObservationReader`."""
    side, frames, factor = pictures["side"], pictures["frames"], pictures["factor"]
    yield f"        picture = np.rint(np.asarray(observation) * {factor})"
    yield "        picture = np.squeeze(np.clip(picture, 0, 255).astype(np.uint8))"
    yield '        grey = Image.fromarray(picture).convert("L")'
    yield f"        frame = np.asarray(grey.resize(({side}, {side}), Image.Resampling.BOX))"
    yield f"        frames = [*(self.frames or [frame] * {frames}), frame]"
    yield f"        observation = self.frames = frames[-{frames}:]"


def _observing(kinds: set[str], facts: dict[str, Any]) -> Iterator[str]:
    """The lines that change the desired return after a step; policies of planning keep it."""
    names = {one.key: one.name for one in _numbers(facts)}
    discount = float(facts["discount"])
    for kind in ("rewards", "expectations"):
        if kind not in kinds:
            continue
        lines = _following(kind, names, discount)
        if len(kinds) == 1:
            yield from (f"        {line}" for line in lines)
        else:
            yield f'        if self.kind == "{kind}":'
            yield from (f"            {line}" for line in lines)


def _following(kind: str, names: dict[str, str], discount: float) -> Iterator[str]:
    factor = "" if discount == 1 else f"np.float32({discount})"
    if kind == "rewards":
        left = "self.want - np.float32(reward)"
        if factor:
            yield f"left = ({left}) / {factor}"
            left = "left"
        bounded = _bounded(left, "minimum", names.get("upper_bound"))
        yield f"self.want = {_bounded(bounded, 'maximum', names.get('lower_bound'))}"
        return
    random = names["random_rewards"]
    yield f"deducted = np.where({random}, self.expected[:-1], np.float32(reward))"
    yield f"survival = np.maximum(self.expected[-1], {names['least_survival']})"
    divisor = f"({factor} * survival)" if factor else "survival"
    left = f"(self.want - deducted) / {divisor}"
    yield f"self.want = np.clip({left}, {names['lowest']}, {names['highest']})"
