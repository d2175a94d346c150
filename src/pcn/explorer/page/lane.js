// One rollout at one step: picture, action and its alternatives, rewards so far, what is left.

import { make } from './dom.js';
import { formatNumber, unitFor, withUnit } from './data.js';
import { clearLayer, createSurface, mark, palette } from './surface.js';

const MOST_ACTIONS = 6; // alternatives shown; further ones are summed up
const MANY_OBJECTIVES = 4; // with more, their curves are lower

export function createLane(model, { title, letter, pin, rollout }) {
  const picture = rollout.frames
    ? make('img', { class: 'frame', alt: '' })
    : make('p', {
        class: 'no-frame hint',
        text: rollout.message ?? 'This environment draws no pictures.',
      });
  const status = make('p', { class: 'lane-status' });
  const note = rollout.policy !== null && rollout.frames ? rollout.message : null;
  const bars = make('div', { class: 'actions' });
  const rows = model.objectives.map((objective) => createProgress(model, objective, rollout));
  const horizon = make('p', { class: 'hint horizon' });
  const hasCommand = rollout.remaining && rollout.remaining.length > 0 && rollout.remaining[0];
  const element = make(
    'article',
    {
      class: model.objectives.length > MANY_OBJECTIVES ? 'lane many' : 'lane',
      'aria-label': title,
    },
    make(
      'header',
      {},
      letter
        ? make('span', { class: `letter ${pin ? `pin-${pin}` : 'picked'}`, text: letter })
        : null,
      make('h3', { text: title }),
    ),
    make(
      'div',
      { class: 'lane-body' },
      make(
        'div',
        { class: 'stage' },
        picture,
        status,
        note ? make('p', { class: 'hint', text: note }) : null,
      ),
      make('div', { class: 'thoughts' }, make('h4', { text: 'Next action' }), bars),
      make(
        'div',
        { class: 'progress' },
        make(
          'div',
          { class: 'progress-head', 'aria-hidden': 'true' },
          make('span', { text: 'Reward, step by step' }),
          make('span', { text: 'so far' }),
          make('span', { text: hasCommand ? 'left of command' : '' }),
        ),
        ...rows.map((row) => row.element),
        horizon,
      ),
    ),
  );

  function frameAt(step) {
    const steps = rollout.frame_steps ?? rollout.frames.map((_, index) => index);
    let found = 0;
    while (found + 1 < steps.length && steps[found + 1] <= step) found += 1;
    return rollout.frames[found];
  }

  function showActions(step) {
    if (step >= rollout.steps) {
      const why = rollout.stopped ? 'it was stopped' : 'the episode is over';
      bars.replaceChildren(make('p', { class: 'hint', text: `None: ${why}.` }));
      return;
    }
    const parts = actionParts(model, rollout, step);
    bars.replaceChildren(
      ...parts
        .flatMap(({ name, options }) => [
          name ? make('p', { class: 'part', text: name }) : null,
          ...options.map(actionBar),
        ])
        .filter((bar) => bar !== null),
    );
  }

  return {
    element,
    steps: rollout.steps,
    resize: () => rows.forEach((row) => row.draw()),
    update: (wanted) => {
      const step = Math.min(wanted, rollout.steps);
      if (rollout.frames) {
        const source = frameAt(step);
        if (picture.getAttribute('src') !== source) picture.src = source;
        picture.alt = `${model.environment.name} after ${step} steps`;
      }
      const isOver = step === rollout.steps;
      status.textContent = isOver
        ? `Episode ${endInWords(model, rollout)} after ${formatNumber(rollout.steps)} ${unitFor('steps', rollout.steps)}`
        : `Step ${step} of ${rollout.steps}`;
      showActions(step);
      rows.forEach((row) => row.update(step));
      const left = hasCommand && !isOver ? rollout.remaining_horizon?.[step] : null;
      horizon.textContent = Number.isFinite(left)
        ? `The command allows ${formatNumber(Math.max(0, left))} more steps.`
        : '';
    },
  };
}

function endInWords(model, rollout) {
  if (rollout.stopped) return `stopped ${rollout.stopped},`;
  if (!rollout.truncated) return 'ended';
  const isAtLimit = rollout.steps >= model.environment.step_limit;
  return isAtLimit ? 'stopped by the step limit' : 'stopped by the environment';
}

function actionParts(model, rollout, step) {
  // An action has one part, or several that are chosen together; each has its options.
  const action = rollout.actions[step];
  const names = rollout.option_names ?? model.environment.action_names;
  const chosen = Array.isArray(action) ? action : [action];
  const given = rollout.probabilities ? rollout.probabilities[step] : null;
  const isNested = Array.isArray(names) && Array.isArray(names[0]);
  let start = 0;
  return chosen.map((option, part) => {
    const words = isNested ? names[part] : names;
    let chances = given;
    if (given && Array.isArray(given[0])) chances = given[part];
    else if (given && chosen.length > 1) {
      const size = words ? words.length : given.length / chosen.length;
      chances = given.slice(start, start + size);
      start += size;
    }
    const nameOf = (index) => words?.[index] ?? `action ${formatNumber(index)}`;
    return {
      name: chosen.length > 1 ? `Part ${part + 1}` : null,
      options: optionsOf(option, chances, nameOf),
    };
  });
}

function optionsOf(option, chances, nameOf) {
  if (!chances) return [{ text: nameOf(option), chance: null, isChosen: true }];
  const order = [...chances.keys()].sort((one, other) => chances[other] - chances[one]);
  const kept = order.length <= MOST_ACTIONS + 1 ? [...order] : order.slice(0, MOST_ACTIONS);
  if (Number.isInteger(option) && !kept.includes(option)) kept[kept.length - 1] = option;
  // Options stay in the order of the action space, so that bars do not jump while playing.
  const options = kept
    .sort((one, other) => one - other)
    .map((index) => ({ text: nameOf(index), chance: chances[index], isChosen: index === option }));
  const rest = order.filter((index) => !kept.includes(index));
  if (rest.length > 0) {
    const chance = rest.reduce((sum, index) => sum + chances[index], 0);
    options.push({ text: `${rest.length} others`, chance, isChosen: false });
  }
  return options;
}

function actionBar({ text, chance, isChosen }) {
  const percent =
    chance === null ? '' : chance > 0 && chance < 0.01 ? '<1 %' : `${Math.round(100 * chance)} %`;
  const bar = make(
    'div',
    { class: isChosen ? 'action chosen' : 'action' },
    make('span', { class: 'action-name', text }),
    make('span', { class: 'action-share', text: percent }),
    isChosen ? make('span', { class: 'visually-hidden', text: 'chosen' }) : null,
  );
  bar.style.setProperty('--share', chance ?? 0);
  return bar;
}

function createProgress(model, objective, rollout) {
  const { discount } = model.environment;
  const curve = new Float64Array(rollout.steps + 1);
  for (let step = 0; step < rollout.steps; step += 1) {
    const reward = objective.sign * rollout.rewards[step][objective.index];
    curve[step + 1] = curve[step] + discount ** step * reward;
  }
  const requested = rollout.requested ? objective.sign * rollout.requested[objective.index] : null;
  const chart = make('div', { class: 'curve' });
  const soFar = make('span', { class: 'so-far' });
  const left = make('span', { class: 'left' });
  const element = make(
    'div',
    { class: 'progress-row' },
    make(
      'div',
      { class: 'curve-cell' },
      make('span', { class: 'curve-name', text: objective.name }),
      chart,
    ),
    soFar,
    left,
  );
  let shown = 0;
  const surface = createSurface(chart, {
    label: `${objective.name} so far, step by step`,
    onResize: () => draw(),
  });
  surface.top.removeAttribute('tabindex');

  function draw() {
    if (!surface.width) return;
    const context = clearLayer(surface, 0);
    const colour = palette();
    const ends = [0, ...curve];
    if (requested !== null) ends.push(requested);
    const low = ends.reduce((a, b) => Math.min(a, b));
    const high = ends.reduce((a, b) => Math.max(a, b));
    const x = (step) => 4 + (step / Math.max(1, rollout.steps)) * (surface.width - 8);
    const y = (value) =>
      surface.height - 4 - ((value - low) / (high - low || 1)) * (surface.height - 8);
    const trace = (end) => {
      context.beginPath();
      context.moveTo(x(0), y(curve[0]));
      for (let step = 1; step <= end; step += 1) context.lineTo(x(step), y(curve[step]));
      context.stroke();
    };
    if (requested !== null) {
      context.strokeStyle = colour.quiet;
      context.lineWidth = 1;
      context.setLineDash([3, 3]);
      context.beginPath();
      context.moveTo(4, y(requested));
      context.lineTo(surface.width - 4, y(requested));
      context.stroke();
      context.setLineDash([]);
    }
    context.strokeStyle = colour.faded;
    context.lineWidth = 1.5;
    trace(rollout.steps);
    context.strokeStyle = colour.point;
    context.lineWidth = 2;
    trace(shown);
    context.fillStyle = colour.point;
    mark(context, 'circle', x(shown), y(curve[shown]), 3);
    context.fill();
  }

  return {
    element,
    draw,
    update: (step) => {
      shown = step;
      soFar.textContent = withUnit(objective, curve[step]);
      const remaining = step < rollout.steps ? rollout.remaining?.[step] : null;
      left.textContent = remaining ? formatNumber(objective.sign * remaining[objective.index]) : '';
      draw();
    },
  };
}
