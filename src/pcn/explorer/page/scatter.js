// Two objectives against each other: points, error bars, limits, ideal and nadir.

import { choice, hideTooltip, make } from './dom.js';
import { fraction, roundedLimit, valueAt } from './data.js';
import { shownOverlays } from './overlays.js';
import { endHover, hoverPolicy, nearestPolicy } from './pointing.js';
import { EDGES, drawAxes, drawCorner, drawLimits } from './scatter-frame.js';
import { badge, clearLayer, createSurface } from './surface.js';
import { highlights, mark, palette, pointerAt, ring } from './surface.js';

const REACH = 14; // pixels within which the pointer means a point
const MOST_BARS = 150; // policies beyond which only highlighted ones have error bars

export function createScatter(host, header, { store, scene, pick }) {
  const chart = make('div', { class: 'chart' });
  host.append(chart);
  const surface = createSurface(chart, {
    label: 'Scatter of two objectives. Arrow keys pick the next policy, P pins it.',
    onResize: () => draw(),
  });
  let drag = null;

  const axes = () => store.state.axes.map((index) => scene.model.objectives[index]);
  const place = (objective, value, isX) => {
    const share = fraction(objective, value, store.state.flipped);
    return isX
      ? EDGES.left + share * (surface.width - EDGES.left - EDGES.right)
      : surface.height - EDGES.bottom - share * (surface.height - EDGES.top - EDGES.bottom);
  };
  const valueUnder = (objective, pixel, isX) => {
    const share = isX
      ? (pixel - EDGES.left) / (surface.width - EDGES.left - EDGES.right)
      : (surface.height - EDGES.bottom - pixel) / (surface.height - EDGES.top - EDGES.bottom);
    return valueAt(objective, Math.min(1, Math.max(0, share)), store.state.flipped);
  };

  const placeOf = (columns, row, across, up) => [
    place(across, columns[across.index][row], true),
    place(up, columns[up.index][row], false),
  ];

  function nearest(x, y) {
    const [across, up] = axes();
    return nearestPolicy(
      scene,
      (policy) => placeOf(scene.run.values, policy, across, up),
      [x, y],
      REACH,
    );
  }

  function drawOverlays(context, across, up) {
    context.lineWidth = 1.3;
    for (const { name, columns, colour, shape, radius } of shownOverlays(scene)) {
      context.strokeStyle = colour;
      if (name === 'front' && scene.model.objectives.length === 2) {
        drawStaircase(context, across, up);
      }
      for (let row = 0; row < columns[0].length; row += 1) {
        mark(context, shape, ...placeOf(columns, row, across, up), radius);
        context.stroke();
      }
    }
  }

  function drawStaircase(context, across, up) {
    const columns = sortedPairs(scene.model.knownFront.columns, across, up);
    context.beginPath();
    columns.forEach(([a, b], index) => {
      const [x, y] = [place(across, a, true), place(up, b, false)];
      if (index === 0) context.moveTo(x, y);
      else {
        context.lineTo(place(across, columns[index - 1][0], true), y);
        context.lineTo(x, y);
      }
    });
    context.globalAlpha = 0.5;
    context.stroke();
    context.globalAlpha = 1;
  }

  function drawBar(context, policy, across, up) {
    const [x, y] = placeOf(scene.run.values, policy, across, up);
    const wide = scene.run.interval(across.index, policy);
    const high = scene.run.interval(up.index, policy);
    context.beginPath();
    if (wide) {
      context.moveTo(place(across, wide[0], true), y);
      context.lineTo(place(across, wide[1], true), y);
    }
    if (high) {
      context.moveTo(x, place(up, high[0], false));
      context.lineTo(x, place(up, high[1], false));
    }
    context.stroke();
  }

  function drawPoints(context, across, up) {
    const { run, mask } = scene;
    const colour = palette();
    const radius = run.size > 1500 ? 1.8 : run.size > 300 ? 2.8 : 5;
    const xs = run.values[across.index];
    const ys = run.values[up.index];
    for (const kept of [0, 1]) {
      context.fillStyle = kept ? colour.point : colour.faded;
      context.strokeStyle = context.fillStyle;
      context.lineWidth = 1;
      for (let policy = 0; policy < run.size; policy += 1) {
        if (mask[policy] !== kept) continue;
        const x = place(across, xs[policy], true);
        const y = place(up, ys[policy], false);
        if (run.size > 1500) context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
        else {
          mark(context, 'circle', x, y, radius);
          context.fill();
          if (run.size <= MOST_BARS) drawBar(context, policy, across, up);
        }
      }
    }
  }

  function drawHighlights(context, across, up) {
    const { run, model } = scene;
    for (const suggestion of model.suggestions) {
      if (suggestion.run !== run.index) continue;
      const [x, y] = placeOf(run.values, suggestion.policy, across, up);
      const other = model.suggestions.find((each) => each.kind !== suggestion.kind);
      const isLower = suggestion.kind === 'balanced' && other && other.policy === suggestion.policy;
      badge(context, suggestion.kind, x + 10, y - 14 + (isLower ? 28 : 0), palette().quiet);
    }
    for (const { policy, colour, label, isPicked } of highlights(scene)) {
      const [x, y] = placeOf(run.values, policy, across, up);
      context.strokeStyle = colour;
      context.fillStyle = colour;
      context.lineWidth = 2;
      drawBar(context, policy, across, up);
      if (isPicked && run.requested) drawRequested(context, policy, across, up, x, y);
      mark(context, 'circle', x, y, 7);
      context.fill();
      context.strokeStyle = palette().card;
      context.stroke();
      if (isPicked) ring(context, x, y, colour);
      if (label) badge(context, label, x - 20, y, colour);
    }
    const { hover } = store.state;
    if (hover !== null && hover < run.size) {
      const [x, y] = placeOf(run.values, hover, across, up);
      context.strokeStyle = palette().ink;
      context.lineWidth = 1.5;
      mark(context, 'circle', x, y, 9);
      context.stroke();
    }
  }

  function drawRequested(context, policy, across, up, x, y) {
    const wantedX = place(across, scene.run.requested[across.index][policy], true);
    const wantedY = place(up, scene.run.requested[up.index][policy], false);
    if (Math.hypot(wantedX - x, wantedY - y) < 2) return;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(wantedX, wantedY);
    context.stroke();
    mark(context, 'square', wantedX, wantedY, 5);
    context.stroke();
    badge(context, 'requested', wantedX + 8, wantedY, context.strokeStyle);
  }

  function draw() {
    if (!surface.width) return;
    const [across, up] = axes();
    const context = clearLayer(surface, 0);
    const frame = { surface, place };
    drawAxes(context, frame, scene, [across, up]);
    drawCorner(context, frame, scene.run.ideal, [across, up], 'ideal');
    drawCorner(context, frame, scene.run.nadir, [across, up], 'nadir');
    drawOverlays(context, across, up);
    drawPoints(context, across, up);
    drawLimits(context, frame, scene, [across, up]);
    drawHighlights(context, across, up);
    if (drag && drag.kind === 'corner' && drag.to) {
      context.strokeStyle = palette().limit;
      context.setLineDash([3, 3]);
      context.strokeRect(drag.x, drag.y, drag.to[0] - drag.x, drag.to[1] - drag.y);
      context.setLineDash([]);
    }
  }

  function dragTo(x, y) {
    const [across, up] = axes();
    const limits = [...store.state.limits];
    const setLimit = (objective, pixel, isX) => {
      limits[objective.index] = roundedLimit(objective, valueUnder(objective, pixel, isX));
    };
    if (drag.kind === 'across') setLimit(across, x, true);
    else if (drag.kind === 'up') setLimit(up, y, false);
    else {
      const isFlipped = (objective) => store.state.flipped.includes(objective.index);
      drag.to = [x, y];
      setLimit(across, (isFlipped(across) ? Math.max : Math.min)(x, drag.x), true);
      setLimit(up, (isFlipped(up) ? Math.min : Math.max)(y, drag.y), false);
    }
    store.set({ limits });
  }

  surface.top.addEventListener('pointerdown', (event) => {
    const [x, y] = pointerAt(event, surface);
    if (y > surface.height - EDGES.bottom - 6) drag = { kind: 'across', x, y };
    else if (x < EDGES.left + 6) drag = { kind: 'up', x, y };
    else drag = { kind: 'corner', x, y };
    surface.top.setPointerCapture(event.pointerId);
  });
  surface.top.addEventListener('pointermove', (event) => {
    const [x, y] = pointerAt(event, surface);
    if (drag && (drag.moved || Math.hypot(x - drag.x, y - drag.y) > 6)) {
      drag.moved = true;
      hideTooltip();
      dragTo(x, y);
      return;
    }
    const policy = nearest(x, y);
    hoverPolicy(event, policy, { store, scene });
  });
  surface.top.addEventListener('pointerup', (event) => {
    const [x, y] = pointerAt(event, surface);
    if (drag && !drag.moved) {
      const policy = nearest(x, y);
      if (policy !== null) pick(policy);
    }
    drag = null;
    draw();
  });
  surface.top.addEventListener('pointercancel', () => {
    drag = null;
  });
  surface.top.addEventListener('pointerleave', () => endHover(store));

  const options = scene.model.objectives.map(({ name, index }) => ({ value: index, text: name }));
  const chooseAxis = (slot) => (value) => {
    const chosen = [...store.state.axes];
    chosen[slot] = Number(value);
    store.set({ axes: chosen });
  };
  const across = choice('Horizontal axis', options, store.state.axes[0], chooseAxis(0));
  const up = choice('Vertical axis', options, store.state.axes[1], chooseAxis(1));
  if (scene.model.objectives.length > 2) header.append(across, up);

  return {
    canvases: surface.canvases,
    orderBy: () => axes()[0],
    update: () => {
      across.value = String(store.state.axes[0]);
      up.value = String(store.state.axes[1]);
      draw();
    },
  };
}

function sortedPairs(columns, across, up) {
  // Points from the worst to the best value of the horizontal objective.
  return Array.from(columns[across.index], (value, row) => [value, columns[up.index][row]]).sort(
    (one, other) => across.sign * (one[0] - other[0]),
  );
}
