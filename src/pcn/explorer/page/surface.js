// A canvas that is sharp on every screen, the colours of the page, and the marks all charts share.

import { make } from './dom.js';

export const PIN_LETTERS = ['A', 'B', 'C', 'D'];

let colours = null;

export function palette() {
  if (!colours) {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(`--${name}`).trim();
    colours = {
      ink: read('ink'),
      quiet: read('quiet'),
      line: read('line'),
      card: read('card'),
      point: read('point'),
      faded: read('faded'),
      picked: read('picked'),
      limit: read('limit'),
      front: read('front'),
      pins: [1, 2, 3, 4].map((number) => read(`pin-${number}`)),
      runs: [1, 2, 3, 4].map((number) => read(`run-${number}`)),
    };
  }
  return colours;
}

export function watchScheme(onChange) {
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    colours = null;
    onChange();
  });
}

export function createSurface(host, { label, layers = 1, onResize }) {
  // Stacked canvases of one size; the last one is on top and gets the pointer.
  const canvases = Array.from({ length: layers }, (_, index) =>
    make(
      'canvas',
      index < layers - 1
        ? { 'aria-hidden': 'true' }
        : {
            tabindex: '0',
            role: 'img',
            'aria-label': label,
          },
    ),
  );
  host.classList.add('surface');
  host.append(...canvases);
  const surface = {
    host,
    canvases,
    top: canvases[layers - 1],
    contexts: canvases.map((canvas) => canvas.getContext('2d')),
    width: 0,
    height: 0,
  };
  const observer = new ResizeObserver(() => {
    const { width, height } = host.getBoundingClientRect();
    if (width === surface.width && height === surface.height) return;
    if (width < 10 || height < 10) return;
    const ratio = window.devicePixelRatio || 1;
    surface.width = width;
    surface.height = height;
    for (const canvas of canvases) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    surface.contexts.forEach((context) => context.setTransform(ratio, 0, 0, ratio, 0, 0));
    onResize();
  });
  observer.observe(host);
  return surface;
}

export function clearLayer(surface, layer) {
  const context = surface.contexts[layer];
  context.clearRect(0, 0, surface.width, surface.height);
  context.font = '12px system-ui, sans-serif';
  context.globalAlpha = 1;
  context.setLineDash([]);
  return context;
}

export function pointerAt(event, surface) {
  const box = surface.top.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

export function mark(context, shape, x, y, radius) {
  context.beginPath();
  if (shape === 'square') {
    context.rect(x - radius * 0.85, y - radius * 0.85, radius * 1.7, radius * 1.7);
  } else if (shape === 'diamond') {
    context.moveTo(x, y - radius * 1.2);
    context.lineTo(x + radius * 1.2, y);
    context.lineTo(x, y + radius * 1.2);
    context.lineTo(x - radius * 1.2, y);
    context.closePath();
  } else if (shape === 'triangle') {
    context.moveTo(x, y - radius * 1.2);
    context.lineTo(x + radius * 1.1, y + radius * 0.8);
    context.lineTo(x - radius * 1.1, y + radius * 0.8);
    context.closePath();
  } else if (shape === 'cross') {
    context.moveTo(x - radius, y - radius);
    context.lineTo(x + radius, y + radius);
    context.moveTo(x + radius, y - radius);
    context.lineTo(x - radius, y + radius);
  } else if (shape === 'plus') {
    context.moveTo(x - radius, y);
    context.lineTo(x + radius, y);
    context.moveTo(x, y - radius);
    context.lineTo(x, y + radius);
  } else {
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }
}

export function ring(context, x, y, colour) {
  // Around the picked policy: it stands out without its colour, too.
  mark(context, 'circle', x, y, 11);
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.stroke();
}

export function highlights(scene) {
  // The policies of this run that stand out, the picked one last so that it is drawn on top.
  const { state, model, run } = scene;
  const found = [];
  state.pins.forEach((name, index) => {
    const pinned = model.policyNamed(name);
    const colour = palette().pins[index];
    if (pinned.run === run)
      found.push({ policy: pinned.policy, colour, label: PIN_LETTERS[index] });
  });
  const picked = model.policyNamed(state.pick);
  if (picked && picked.run === run) {
    const pin = found.find((highlight) => highlight.policy === picked.policy);
    const label = pin ? pin.label : '';
    found.push({ policy: picked.policy, colour: palette().picked, label, isPicked: true });
  }
  return found;
}

export function badge(context, text, x, y, colour) {
  const width = context.measureText(text).width + 8;
  const ratio = window.devicePixelRatio || 1;
  const left = Math.max(2, Math.min(x, context.canvas.width / ratio - width));
  context.fillStyle = palette().card;
  context.globalAlpha = 0.85;
  context.fillRect(left - 2, y - 9, width, 17);
  context.globalAlpha = 1;
  context.fillStyle = colour;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillText(text, left + 2, y);
}

export function shortened(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  // Names that differ in their last characters, such as a number, must still differ.
  const ending = text.slice(-2);
  let end = text.length - 2;
  const attempt = () => `${text.slice(0, end).trimEnd()}…${ending}`;
  while (end > 1 && context.measureText(attempt()).width > width) end -= 1;
  return attempt();
}

export function axisTitle(objective, scene) {
  const unit = objective.unit ? ` (${objective.unit})` : '';
  const flipped = scene.state.flipped.includes(objective.index) ? ', flipped' : '';
  return `${objective.name}${unit}, ${objective.sign > 0 ? 'more' : 'less'} is better${flipped}`;
}
