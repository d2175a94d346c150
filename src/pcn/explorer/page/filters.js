// What is the least you accept? One limit per objective, by slider or typed number, and what is left.

import { announce, icon, make } from './dom.js';
import { formatNumber, fraction, roundedLimit, valueAt, withUnit } from './data.js';
import { clearLayer, createSurface, palette } from './surface.js';

const SLIDER_STEPS = 1000;
const BINS = 36;

function rangeInWords(run, { index }) {
  // The nadir is the worst value on the front; dominated policies may be worse.
  const [ideal, nadir, worst] = [run.ideal, run.nadir, run.worst].map((ends) => ends[index]);
  const best = `best ${formatNumber(ideal)} (ideal)`;
  if (worst === nadir) return `${best} · worst ${formatNumber(nadir)} (nadir)`;
  return `${best} · nadir ${formatNumber(nadir)} · worst ${formatNumber(worst)}`;
}

export function createFilters(host, { store, scene }) {
  const { model } = scene;
  const count = make('p', { class: 'count', id: 'count', role: 'status' });
  const clear = make('button', {
    type: 'button',
    class: 'quiet-button',
    text: 'Clear',
    onclick: () => store.set({ limits: store.state.limits.map(() => null) }),
  });
  host.append(
    make('div', { class: 'title-row' }, make('h2', { text: 'What is acceptable?' }), clear),
    count,
  );
  const cards = model.objectives.map((objective) => createCard(objective));
  host.append(make('div', { class: 'limit-cards' }, ...cards.map((card) => card.element)));

  function setLimit(objective, limit) {
    const limits = [...store.state.limits];
    limits[objective.index] = limit;
    store.set({ limits });
  }

  function moveLeft({ name, index }) {
    const order = [...store.state.order];
    const from = order.indexOf(index);
    order.splice(Math.max(0, from - 1), 0, ...order.splice(from, 1));
    store.set({ order });
    announce(`${name} is axis ${order.indexOf(index) + 1} of ${order.length}`);
  }

  function createCard(objective) {
    const word = objective.sign > 0 ? 'at least' : 'at most';
    const slider = make('input', {
      type: 'range',
      min: 0,
      max: SLIDER_STEPS,
      value: 0,
      'aria-label': `${objective.name}, ${word}`,
      oninput: () => {
        const share = Number(slider.value) / SLIDER_STEPS;
        setLimit(
          objective,
          share === 0 ? null : roundedLimit(objective, valueAt(objective, share)),
        );
      },
    });
    const number = make('input', {
      type: 'number',
      step: 'any',
      placeholder: 'any',
      id: `limit-${objective.index}`,
      'aria-label': `${objective.name}, ${word}, as a number`,
      onchange: () => setLimit(objective, number.value === '' ? null : Number(number.value)),
    });
    const flip = make(
      'button',
      {
        type: 'button',
        class: 'icon-button',
        'aria-pressed': 'false',
        title: `Flip the axis of ${objective.name}`,
        'aria-label': `Flip the axis of ${objective.name}`,
        onclick: () => {
          const { flipped } = store.state;
          const isFlipped = flipped.includes(objective.index);
          store.set({
            flipped: isFlipped
              ? flipped.filter((index) => index !== objective.index)
              : [...flipped, objective.index],
          });
        },
      },
      icon('flip'),
    );
    const moveText = `Move the axis of ${objective.name} one place to the left`;
    const move = make(
      'button',
      {
        type: 'button',
        class: 'icon-button',
        title: moveText,
        'aria-label': moveText,
        onclick: () => moveLeft(objective),
      },
      icon('back'),
    );
    const strip = make('div', { class: 'strip' });
    const range = make('p', { class: 'range' });
    const element = make(
      'section',
      { class: 'limit-card', 'aria-label': objective.name },
      make(
        'header',
        {},
        make('h3', { text: objective.name }),
        make('span', {
          class: 'direction',
          text: objective.sign > 0 ? 'more is better' : 'less is better',
        }),
        model.objectives.length > 2 ? move : null,
        flip,
      ),
      strip,
      slider,
      make(
        'div',
        { class: 'limit-row' },
        make('label', { for: `limit-${objective.index}`, text: word }),
        number,
        make('span', { class: 'unit', text: objective.unit }),
      ),
      range,
    );
    const surface = createSurface(strip, {
      label: `How the policies are spread over ${objective.name}`,
      onResize: () => drawStrip(),
    });
    surface.top.removeAttribute('tabindex');

    function drawStrip() {
      if (!surface.width) return;
      const context = clearLayer(surface, 0);
      const all = new Array(BINS).fill(0);
      const kept = new Array(BINS).fill(0);
      const column = scene.run.values[objective.index];
      for (let policy = 0; policy < scene.run.size; policy += 1) {
        const bin = Math.min(BINS - 1, Math.floor(fraction(objective, column[policy]) * BINS));
        all[bin] += 1;
        kept[bin] += scene.mask[policy];
      }
      const most = Math.max(1, ...all);
      const wide = surface.width / BINS;
      const bars = (counts, colour) => {
        context.fillStyle = colour;
        counts.forEach((policies, bin) => {
          if (policies === 0) return;
          const high = Math.max(3, (policies / most) * surface.height);
          context.fillRect(bin * wide + 0.5, surface.height - high, Math.max(1.5, wide - 1), high);
        });
      };
      bars(all, palette().faded);
      bars(kept, palette().point);
    }

    return {
      element,
      update: () => {
        const limit = store.state.limits[objective.index];
        const share = limit === null ? 0 : fraction(objective, limit);
        slider.value = String(Math.round(Math.min(1, Math.max(0, share)) * SLIDER_STEPS));
        slider.style.setProperty('--share', slider.value / SLIDER_STEPS);
        slider.setAttribute(
          'aria-valuetext',
          limit === null ? 'any' : `${word} ${withUnit(objective, limit)}`,
        );
        if (document.activeElement !== number) number.value = limit === null ? '' : String(limit);
        flip.setAttribute('aria-pressed', String(store.state.flipped.includes(objective.index)));
        range.textContent = scene.run.size === 0 ? '' : rangeInWords(scene.run, objective);
        drawStrip();
      },
    };
  }

  let announcement = null;
  return {
    update: (changed) => {
      if (!['limits', 'run', 'flipped', 'scheme'].some((key) => changed.has(key))) return;
      const { size } = scene.run;
      count.replaceChildren(
        make('strong', { text: formatNumber(scene.count) }),
        ` of ${formatNumber(size)} ${size === 1 ? 'policy remains' : 'policies remain'}`,
      );
      clear.disabled = store.state.limits.every((limit) => limit === null);
      cards.forEach((card) => card.update());
      clearTimeout(announcement);
      if (changed.has('limits') && !changed.has('first')) {
        announcement = setTimeout(() => announce(count.textContent), 600);
      }
    },
  };
}
