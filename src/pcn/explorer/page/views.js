// The cards of the linked views; a view is drawn while it is in sight, and catches up when it comes.

import { icon, make } from './dom.js';
import { createMatrix } from './matrix.js';
import { createParallel } from './parallel.js';
import { createScatter } from './scatter.js';
import { createScatter3d } from './scatter3d.js';
import { createTable } from './table.js';
import { saveChart } from './takeaway.js';

export const VIEWS = [
  { name: 'scatter', title: 'Scatter', create: createScatter, fewest: 2 },
  { name: 'scatter3d', title: '3D', create: createScatter3d, fewest: 3 },
  { name: 'parallel', title: 'Parallel', create: createParallel, fewest: 2 },
  { name: 'matrix', title: 'Matrix', create: createMatrix, fewest: 3 },
  { name: 'table', title: 'Table', create: createTable, fewest: 1 },
];

const NEAR_SIGHT = '200px'; // how far below the window a view is already drawn

const whenIdle = window.requestIdleCallback ?? ((work) => setTimeout(work, 200));

export function createViews(host, context) {
  const { store, views, model } = context;
  const cards = new Map(); // name -> { card, view, isInSight, missed }
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        const found = [...cards.values()].find(({ card }) => card === entry.target);
        found.isInSight = entry.isIntersecting;
        if (found.isInSight) catchUp(found);
      }
    },
    { rootMargin: NEAR_SIGHT },
  );

  function catchUp(entry) {
    if (entry.missed.size === 0 || entry.card.hidden) return;
    const { missed } = entry;
    entry.missed = new Set();
    entry.view.update(missed);
  }

  // Paper has no sight: all views are drawn before the page is printed.
  window.addEventListener('beforeprint', () => cards.forEach(catchUp));

  function createCard({ name, title, create }) {
    const header = make('div', { class: 'card-tools' });
    const card = make(
      'section',
      { class: `card view view-${name}`, 'aria-label': title },
      make('header', { class: 'card-head' }, make('h2', { text: title }), header),
    );
    host.append(card);
    const view = create(card, header, context);
    if (view.canvases.length) {
      const save = () =>
        saveChart(view.canvases, model.title, `${model.environment.name}-${name}.png`);
      const label = `Save ${title} as picture`;
      const attributes = { type: 'button', class: 'icon-button', title: label, onclick: save };
      header.append(make('button', { ...attributes, 'aria-label': label }, icon('save')));
    }
    observer.observe(card);
    const entry = { card, view, isInSight: false, missed: new Set() };
    // Once for all, so that the page keeps its height when somebody scrolls down.
    whenIdle(() => catchUp(entry));
    return entry;
  }

  return {
    orderBy: () => {
      const isCharted = ({ name }) =>
        store.state.views.includes(name) && cards.get(name)?.view.orderBy;
      const first = views.find(isCharted);
      return first ? cards.get(first.name).view.orderBy() : null;
    },
    update: (changed) => {
      for (const kind of views) {
        const isShown = store.state.views.includes(kind.name);
        if (isShown && !cards.has(kind.name)) cards.set(kind.name, createCard(kind));
        const entry = cards.get(kind.name);
        if (!entry) continue;
        entry.card.hidden = !isShown;
        changed.forEach((key) => entry.missed.add(key));
        if (entry.isInSight) catchUp(entry);
      }
      host.classList.toggle('empty', store.state.views.length === 0);
    },
  };
}
