// Starts the page: loads the document, builds the parts, and redraws what a change concerns.

import { announce } from './dom.js';
import { createAsk } from './ask.js';
import { createFilters } from './filters.js';
import { createModel, policyLines, remainingMask } from './data.js';
import { createPicked } from './picked.js';
import { MOST_PINS, createStore } from './state.js';
import { createTakeaway } from './takeaway.js';
import { VIEWS, createViews } from './views.js';
import { createWatch } from './watch.js';
import { fillHeader, fillToolbar } from './toolbar.js';
import { listenToKeys } from './keys.js';
import { loadDocument } from './source.js';
import { watchScheme } from './surface.js';

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
