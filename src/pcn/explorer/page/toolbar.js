// The head of the page: which runs are shown, which views, and what is laid over them.

import { choice, make } from './dom.js';
import { formatNumber } from './data.js';
import { isLive } from './source.js';
import { overlayChoices } from './overlays.js';

const percent = (share) => `${formatNumber(Math.round(100 * share))} %`;

const PURPOSE =
  'Each policy is one way to act, with its own trade-off between the objectives. ' +
  'Say what is acceptable, compare the policies that remain, and pick one.';

function summary(run) {
  const metrics = run.hypervolume ?? {};
  const parts = [`${run.algorithm.toUpperCase()}, seed ${run.seed}`];
  if (run.not_executed) parts.unshift(run.not_executed);
  if (run.order) parts.push(`order: ${run.order}`);
  parts.push(`${formatNumber(run.size)} ${run.size === 1 ? 'policy' : 'policies'}`);
  if (Number.isFinite(run.steps)) parts.push(`${formatNumber(run.steps)} steps of training`);
  if (Number.isFinite(metrics.hypervolume)) {
    const interval = metrics.hypervolume_interval;
    const range = interval ? ` (95 %: ${interval.map(formatNumber).join(' to ')})` : '';
    parts.push(`hypervolume ${formatNumber(metrics.hypervolume)}${range}`);
  }
  if (Number.isFinite(metrics.front_share)) {
    parts.push(`${percent(metrics.front_share)} of the known front's points reached exactly`);
  }
  if (run.takes_commands !== false && Number.isFinite(run.fidelity?.exact)) {
    const within = run.policies.interval ? ', within their intervals' : '';
    parts.push(`${percent(run.fidelity.exact)} return what was requested${within}`);
  }
  return parts.join(' · ');
}

export function fillHeader(host, { model, store, scene }) {
  const line = make('p', { class: 'summary' });
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
      isLive() ? null : make('span', { class: 'tag', text: 'report' }),
    ),
    make('p', { class: 'purpose', text: PURPOSE }),
    line,
    ...(model.left_out ?? []).map((text) => make('p', { class: 'notice', text })),
  );
  document.title = `${model.title} · pcn`;
  return {
    update: (changed) => {
      if (!changed.has('run')) return;
      line.textContent = summary(scene.run);
      select.value = String(store.state.run);
    },
  };
}

export function fillToolbar(host, { model, store, views }) {
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
  const boxes = overlayChoices(model).map(({ name, text, sign, title }) => {
    const box = make('input', {
      type: 'checkbox',
      'data-overlay': name,
      onchange: () => {
        const shown = store.state.overlays.filter((each) => each !== name);
        store.set({ overlays: box.checked ? [...shown, name] : shown });
      },
    });
    const label = make('label', { class: 'overlay', title }, box, `${sign} ${text}`);
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
