// The player: rollouts of the picked, pinned and asked-for policies, stepped together.

import { choice, icon, make } from './dom.js';
import { formatMargin, formatNumber, isWithin, withUnit } from './data.js';
import { createLane } from './lane.js';
import { askedRollout, rolloutOf } from './source.js';
import { PIN_LETTERS } from './surface.js';

const STEPS_PER_SECOND = 4;
const CANNOT_WATCH = 'This run cannot be watched.';
const PICK_DELAY = 120; // milliseconds: whoever leafs through policies does not start them all

export function createWatch(host, { store, scene, togglePin }) {
  const { model } = scene;
  const lanesBox = make('div', { class: 'lanes' });
  const message = make('p', { class: 'hint', role: 'status' });
  const comparison = make('div', { class: 'comparison' });
  let shown = []; // { key, lane } of the rollouts on the page
  let speed = 1;
  let timer = 0;
  let loading = 0;

  const longest = () => Math.max(0, ...shown.map(({ lane }) => lane?.steps ?? 0));
  const goTo = (step) => store.set({ step: Math.min(longest(), Math.max(0, step)) });
  const button = (picture, label, action) =>
    make(
      'button',
      {
        type: 'button',
        class: 'control',
        title: label,
        'aria-label': label,
        onclick: action,
      },
      icon(picture),
    );
  const playButton = button('play', 'Play', () => togglePlay());
  const scrub = make('input', {
    type: 'range',
    min: 0,
    max: 1,
    value: 0,
    class: 'scrub',
    'aria-label': 'Step',
    oninput: () => {
      store.set({ playing: false });
      goTo(Number(scrub.value));
    },
  });
  const speeds = [0.5, 1, 2, 4, 8, 32].map((value) => ({ value, text: `${value}×` }));
  const controls = make(
    'div',
    { class: 'controls', role: 'group', 'aria-label': 'Player' },
    button('first', 'To the start', () => goTo(0)),
    button('back', 'One step back', () => stepBy(-1)),
    playButton,
    button('forward', 'One step forward', () => stepBy(1)),
    button('last', 'To the end', () => goTo(longest())),
    scrub,
    choice('Speed', speeds, 1, (value) => {
      speed = Number(value);
      if (store.state.playing) schedule();
    }),
  );
  host.append(make('h2', { text: 'Watch' }), message, controls, lanesBox, comparison);

  function stepBy(steps) {
    store.set({ playing: false });
    goTo(store.state.step + steps);
  }

  function togglePlay() {
    const isAtEnd = store.state.step >= longest();
    if (!store.state.playing && isAtEnd) goTo(0);
    store.set({ playing: !store.state.playing && longest() > 0 });
  }

  function schedule() {
    clearTimeout(timer);
    if (!store.state.playing) return;
    timer = setTimeout(
      () => {
        if (store.state.step >= longest()) store.set({ playing: false });
        else {
          goTo(store.state.step + 1);
          schedule();
        }
      },
      1000 / (STEPS_PER_SECOND * speed),
    );
  }

  function wantedLanes() {
    const { pick, pins, ask, run } = store.state;
    const wanted = [];
    if (pick && !pins.includes(pick)) wanted.push(laneOf(pick, '●', null));
    pins.forEach((name, index) => wanted.push(laneOf(name, PIN_LETTERS[index], index + 1)));
    if (ask) {
      const raw = model.objectives.map(({ sign, index }) => sign * ask[index]);
      const horizon = ask[ask.length - 1];
      wanted.push({
        key: `ask ${run} ${ask.join(' ')}`,
        title: 'What you asked for',
        letter: '?',
        pin: 'ask',
        run: model.runs[run],
        load: () => askedRollout(run, raw, horizon),
      });
    }
    return wanted;
  }

  function laneOf(name, letter, pin) {
    const { run, policy } = model.policyNamed(name);
    const title = model.runs.length > 1 ? `Policy ${policy} of ${run.name}` : `Policy ${policy}`;
    return {
      key: `${name} ${letter}`,
      title,
      letter,
      pin,
      run,
      policy,
      name,
      load: () => rolloutOf(run.index, policy),
    };
  }

  async function load() {
    const wanted = wantedLanes();
    loading += 1;
    const turn = loading;
    const old = new Map(shown.map((entry) => [entry.key, entry]));
    shown = wanted.map((want) => old.get(want.key) ?? { key: want.key, want, lane: null });
    arrange();
    for (const entry of shown) {
      if (entry.lane) continue;
      try {
        if (!entry.want.run.can_watch) throw new Error(entry.want.run.why_not ?? CANNOT_WATCH);
        const rollout = await entry.want.load();
        if (turn !== loading) return;
        entry.lane = createLane(model, { ...entry.want, rollout });
        entry.rollout = rollout;
      } catch (error) {
        if (turn !== loading) return;
        entry.error = error.message;
      }
      arrange();
    }
  }

  function arrange() {
    lanesBox.replaceChildren(
      ...shown.filter(isWorthShowing).map((entry) => {
        if (entry.lane) return entry.lane.element;
        return make(
          'article',
          { class: 'lane waiting' },
          make(
            'header',
            {},
            make('span', {
              class: `letter ${entry.want.pin ? `pin-${entry.want.pin}` : 'picked'}`,
              text: entry.want.letter,
            }),
            make('h3', { text: entry.want.title }),
          ),
          make('p', { class: 'hint', text: entry.error ?? 'Executing the policy…' }),
        );
      }),
    );
    lanesBox.dataset.count = String(shown.length);
    const { run } = scene;
    if (!run.can_watch) message.textContent = run.why_not ?? CANNOT_WATCH;
    else if (shown.length === 0)
      message.textContent = 'Pick a policy to see what it does; pin up to four to compare them.';
    else message.textContent = '';
    controls.hidden = longest() === 0;
    if (shown.some(({ lane }) => lane) && store.state.step > longest()) goTo(longest());
    compareValues();
    show();
  }

  function isWorthShowing({ error, want }) {
    // The message above says it already where the run in sight cannot be watched.
    return !error || want.run.can_watch || want.run !== scene.run;
  }

  function compareValues() {
    const entries = shown.filter(({ want }) => want.policy !== undefined);
    comparison.hidden = entries.length < 2;
    if (comparison.hidden) return;
    const head = make(
      'tr',
      {},
      make('th', { scope: 'col', text: 'Executed return' }),
      ...entries.map(({ want }) =>
        make(
          'th',
          { scope: 'col' },
          make('span', {
            class: `letter ${want.pin ? `pin-${want.pin}` : 'picked'}`,
            text: want.letter,
          }),
          ` ${want.title}`,
          want.pin
            ? make('button', {
                type: 'button',
                class: 'icon-button',
                text: '×',
                'aria-label': `Unpin ${want.title}`,
                onclick: () => togglePin(want.name),
              })
            : null,
        ),
      ),
    );
    const rows = model.objectives.map((objective) => {
      const cells = entries.map(({ want }) => {
        const value = want.run.values[objective.index][want.policy];
        const interval = want.run.interval(objective.index, want.policy);
        return { value, interval, ends: interval ?? [value, value] };
      });
      const best = cells.reduce((a, b) =>
        objective.sign * b.value > objective.sign * a.value ? b : a,
      );
      // Means whose intervals overlap that of the best one may be as good.
      const [worstOfBest, bestEnd] = objective.sign > 0 ? [0, 1] : [1, 0];
      const isBest = ({ ends }) => isWithin(objective, ends[bestEnd], best.ends[worstOfBest]);
      return make(
        'tr',
        {},
        make('th', { scope: 'row', text: objective.name }),
        ...cells.map((cell) =>
          make(
            'td',
            { class: isBest(cell) ? 'best' : null },
            withUnit(objective, cell.value),
            cell.interval ? make('small', { text: ` ± ${formatMargin(cell.interval)}` }) : null,
          ),
        ),
      );
    });
    const steps = make(
      'tr',
      {},
      make('th', { scope: 'row', text: 'steps of the rollout' }),
      ...entries.map(({ lane }) => make('td', { text: lane ? formatNumber(lane.steps) : '–' })),
    );
    comparison.replaceChildren(
      make('h3', { text: 'Side by side' }),
      make(
        'div',
        { class: 'table-scroll' },
        make(
          'table',
          { class: 'compare', 'aria-label': 'Executed returns side by side' },
          make('thead', {}, head),
          make('tbody', {}, ...rows, steps),
        ),
      ),
    );
  }

  function show() {
    const { step, playing } = store.state;
    scrub.max = String(longest());
    scrub.value = String(step);
    scrub.setAttribute('aria-valuetext', `step ${step} of ${longest()}`);
    const label = playing ? 'Pause' : 'Play';
    if (playButton.title !== label) playButton.replaceChildren(icon(label.toLowerCase()));
    playButton.setAttribute('aria-label', label);
    playButton.title = label;
    shown.forEach(({ lane }) => lane?.update(step));
  }

  let delay = 0;
  return {
    togglePlay,
    stepBy,
    update: (changed) => {
      if (['pick', 'pins', 'ask', 'run'].some((key) => changed.has(key))) {
        clearTimeout(delay);
        delay = setTimeout(load, changed.has('first') ? 0 : PICK_DELAY);
      }
      if (changed.has('playing')) schedule();
      if (['step', 'playing', 'scheme'].some((key) => changed.has(key))) show();
    },
  };
}
