// Starts the page: loads the document, builds the parts, and redraws what a change concerns.

import { announce, choice, icon, make } from './dom.js';
import { createAsk } from './ask.js';
import { createFilters } from './filters.js';
import { createMatrix } from './matrix.js';
import { createModel, formatNumber, policyLines, remainingMask } from './data.js';
import { createParallel } from './parallel.js';
import { createPicked } from './picked.js';
import { createScatter } from './scatter.js';
import { createScatter3d } from './scatter3d.js';
import { MOST_PINS, createStore } from './state.js';
import { RUN_SHAPES, watchScheme } from './surface.js';
import { createTable } from './table.js';
import { createTakeaway, saveChart } from './takeaway.js';
import { createWatch } from './watch.js';
import { isLive, loadDocument } from './source.js';

const VIEWS = [
  { name: 'scatter', title: 'Scatter', create: createScatter, fewest: 2 },
  { name: 'scatter3d', title: '3D', create: createScatter3d, fewest: 3 },
  { name: 'parallel', title: 'Parallel', create: createParallel, fewest: 2 },
  { name: 'matrix', title: 'Matrix', create: createMatrix, fewest: 3 },
  { name: 'table', title: 'Table', create: createTable, fewest: 1 },
];

function summary(run) {
  const metrics = run.hypervolume ?? {};
  const parts = [`${run.algorithm.toUpperCase()}, seed ${run.seed}`];
  parts.push(`${formatNumber(run.size)} ${run.size === 1 ? 'policy' : 'policies'}`);
  if (Number.isFinite(run.steps)) parts.push(`${formatNumber(run.steps)} steps of training`);
  if (Number.isFinite(metrics.hypervolume))
    parts.push(`hypervolume ${formatNumber(metrics.hypervolume)}`);
  if (Number.isFinite(metrics.front_share)) {
    parts.push(`${formatNumber(100 * metrics.front_share)} % of the known front`);
  }
  if (run.fidelity && Number.isFinite(run.fidelity.exact)) {
    parts.push(`${formatNumber(100 * run.fidelity.exact)} % return what was requested`);
  }
  return parts.join(' · ');
}

function fillHeader(host, { model, store, scene }) {
  const line = make('p', { class: 'summary' });
  const badge = make('span', { class: 'notice', text: 'unfinished run' });
  const runs = model.runs.map(({ name, index }) => ({ value: index, text: name }));
  const select = choice('Run', runs, store.state.run, (value) =>
    store.set({
      run: Number(value),
      pick: null,
      ask: null,
    }),
  );
  host.append(
    make(
      'div',
      { class: 'brand' },
      make('h1', { text: model.environment.name }),
      model.runs.length > 1 ? select : null,
      badge,
      isLive() ? null : make('span', { class: 'tag', text: 'report' }),
    ),
    line,
    ...(model.left_out ?? []).map((text) => make('p', { class: 'notice', text })),
  );
  document.title = `${model.title} · pcn`;
  return {
    update: (changed) => {
      if (!changed.has('run')) return;
      line.textContent = summary(scene.run);
      badge.hidden = scene.run.finished !== false;
      select.value = String(store.state.run);
    },
  };
}

function fillToolbar(host, { model, store, views }) {
  const toggles = views.map(({ name, title }) =>
    make('button', {
      type: 'button',
      class: 'tab',
      text: title,
      'data-view': name,
      onclick: () => {
        const shown = store.state.views;
        store.set({
          views: shown.includes(name) ? shown.filter((each) => each !== name) : [...shown, name],
        });
      },
    }),
  );
  const overlays = [];
  if (model.knownFront) {
    overlays.push(['front', model.knownFront.exact ? 'known front' : 'best known front', '○']);
  }
  if (model.runs.some(({ archiveSize }) => archiveSize > 0))
    overlays.push(['archive', 'archive', '∘']);
  const signs = { triangle: '△', square: '□', diamond: '◇', plus: '+' };
  if (model.runs.length > 1) {
    model.runs.forEach(({ name, index }) =>
      overlays.push([`run${index}`, name, signs[RUN_SHAPES[index % 4]]]),
    );
  }
  const boxes = overlays.map(([name, text, sign]) => {
    const box = make('input', {
      type: 'checkbox',
      'data-overlay': name,
      onchange: () => {
        const shown = store.state.overlays.filter((each) => each !== name);
        store.set({ overlays: box.checked ? [...shown, name] : shown });
      },
    });
    const label = make('label', { class: 'overlay' }, box, `${sign} ${text}`);
    return { name, box, label };
  });
  host.append(
    make('div', { class: 'tabs', role: 'group', 'aria-label': 'Views' }, ...toggles),
    make(
      'div',
      { class: 'overlays', role: 'group', 'aria-label': 'Also show' },
      ...boxes.map(({ label }) => label),
    ),
  );
  return {
    update: (changed) => {
      toggles.forEach((toggle) => {
        toggle.setAttribute(
          'aria-pressed',
          String(store.state.views.includes(toggle.dataset.view)),
        );
      });
      boxes.forEach(({ name, box, label }) => {
        box.checked = store.state.overlays.includes(name);
        label.hidden = changed !== null && name === `run${store.state.run}`;
      });
    },
  };
}

function createViews(host, context) {
  const { store, views, model } = context;
  const cards = new Map();
  return {
    orderBy: () => {
      const first = views.find(
        ({ name }) => store.state.views.includes(name) && cards.get(name)?.view.orderBy,
      );
      return first ? cards.get(first.name).view.orderBy() : null;
    },
    update: (changed) => {
      for (const { name, title, create } of views) {
        const isShown = store.state.views.includes(name);
        if (isShown && !cards.has(name)) {
          const header = make('div', { class: 'card-tools' });
          const card = make(
            'section',
            { class: `card view view-${name}`, 'aria-label': title },
            make('header', { class: 'card-head' }, make('h2', { text: title }), header),
          );
          host.append(card);
          const view = create(card, header, context);
          if (view.canvases.length) {
            header.append(
              make(
                'button',
                {
                  type: 'button',
                  class: 'icon-button',
                  title: 'Save as picture',
                  'aria-label': `Save ${title} as picture`,
                  onclick: () =>
                    saveChart(view.canvases, model.title, `${model.environment.name}-${name}.png`),
                },
                icon('save'),
              ),
            );
          }
          cards.set(name, { card, view });
        }
        if (!cards.has(name)) continue;
        const { card, view } = cards.get(name);
        card.hidden = !isShown;
        if (isShown) view.update(changed);
      }
      host.classList.toggle('empty', store.state.views.length === 0);
    },
  };
}

function listenToKeys({ store, scene, model, pick, togglePin, watch, charts }) {
  const move = (direction) => {
    // The next policy that remains, in the order of the first axis in sight.
    const objective = charts.orderBy() ?? model.objectives[0];
    const column = scene.run.values[objective.index];
    const order = Array.from({ length: scene.run.size }, (_, policy) => policy)
      .filter((policy) => scene.mask[policy])
      .sort((one, other) => objective.sign * (column[one] - column[other]) || one - other);
    if (order.length === 0) return;
    const picked = model.policyNamed(store.state.pick);
    const position = picked && picked.run === scene.run ? order.indexOf(picked.policy) : -1;
    const next = position < 0 ? 0 : Math.min(order.length - 1, Math.max(0, position + direction));
    pick(order[next]);
  };
  document.addEventListener('keydown', (event) => {
    const { tagName, type } = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = tagName === 'SELECT' || (tagName === 'INPUT' && type !== 'checkbox');
    if (isTyping) return;
    const isChart = tagName === 'CANVAS';
    if (
      event.key === ']' ||
      (isChart && !event.shiftKey && ['ArrowRight', 'ArrowUp'].includes(event.key))
    )
      move(1);
    else if (
      event.key === '[' ||
      (isChart && !event.shiftKey && ['ArrowLeft', 'ArrowDown'].includes(event.key))
    )
      move(-1);
    else if (event.key === 'p' && store.state.pick) togglePin(store.state.pick);
    else if (event.key === ' ' && tagName !== 'BUTTON') watch.togglePlay();
    else if (event.key === '.') watch.stepBy(1);
    else if (event.key === ',') watch.stepBy(-1);
    else return;
    event.preventDefault();
  });
}

async function start() {
  const page = document.getElementById('page');
  const problem = document.getElementById('problem');
  let model;
  try {
    model = createModel(await loadDocument());
  } catch (error) {
    problem.textContent = error.message;
    problem.hidden = false;
    return;
  }
  if (model.runs.length === 0 || model.objectives.length === 0) {
    problem.textContent = 'There is no policy to show yet.';
    problem.hidden = false;
    return;
  }
  const store = createStore(model);
  const scene = { model, state: store.state, run: null, mask: null, count: 0 };
  const refresh = (state) => {
    scene.state = state;
    scene.run = model.runs[state.run];
    Object.assign(scene, remainingMask(model, scene.run, state.limits));
  };
  refresh(store.state);

  const pick = (policy) => {
    const name = `${scene.run.index}.${policy}`;
    if (name !== store.state.pick) store.set({ pick: name, step: 0, playing: false });
    announce(`Policy ${policy}: ${policyLines(model, scene.run, policy).join(', ')}`);
  };
  const togglePin = (name) => {
    const { pins } = store.state;
    if (pins.includes(name)) store.set({ pins: pins.filter((pin) => pin !== name) });
    else if (pins.length < MOST_PINS) store.set({ pins: [...pins, name] });
    else announce(`${MOST_PINS} policies are pinned already; unpin one first.`);
  };
  const views = VIEWS.filter(({ fewest }) => model.objectives.length >= fewest);
  const context = { model, store, scene, pick, togglePin, views };
  const place = (id) => document.getElementById(id);
  const watch = createWatch(place('watch'), context);
  const charts = createViews(place('views'), context);
  const parts = [
    fillHeader(place('header'), context),
    fillToolbar(place('toolbar'), context),
    createFilters(place('filters'), context),
    createPicked(place('picked'), context),
    charts,
    watch,
    createAsk(place('ask'), context),
    createTakeaway(place('takeaway'), context),
  ];
  const redraw = (changed) => parts.forEach((part) => part.update(changed));
  store.subscribe((state, changed) => {
    if (changed.has('limits') || changed.has('run')) refresh(state);
    else scene.state = state;
    redraw(changed);
  });
  watchScheme(() => redraw(new Set(['scheme', 'run', 'views'])));
  listenToKeys({ ...context, watch, charts });
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault(); // the address belongs to the state of the page
    place('picked').focus();
  });
  page.hidden = false;
  redraw(new Set([...Object.keys(store.state), 'first']));
  requestAnimationFrame(() => {
    performance.mark('ready');
    document.documentElement.dataset.ready = 'true';
  });
}

start();
