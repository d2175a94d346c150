// Parallel coordinates: one axis per objective, one line per policy, better is up.

import { hideTooltip, make } from './dom.js';
import { formatNumber, fraction, roundedLimit, ticks, valueAt } from './data.js';
import { shownOverlays } from './overlays.js';
import { endHover, hoverPolicy } from './pointing.js';
import { createDensity } from './density.js';
import { badge, clearLayer, createSurface, highlights, mark } from './surface.js';
import { palette, pointerAt, shortened } from './surface.js';

const INSET = { side: 46, top: 54, bottom: 30 };
const MOST_STROKES = 300; // policies beyond which lines are counted per pixel
const GRIP = 16; // pixels around an axis within which a drag moves its limit
const REORDER_HEIGHT = 38; // the titles' zone: a drag there moves the axis

export function createParallel(host, header, { store, scene, pick }) {
  const chart = make('div', { class: 'chart' });
  host.append(chart);
  const surface = createSurface(chart, {
    label: 'Parallel coordinates. Arrow keys pick the next policy, P pins it.',
    layers: 3,
    onResize: () => redraw(),
  });
  let drag = null;
  let heights = []; // one column of y coordinates per axis position
  let counted = null; // the lines of the remaining policies as counts, and which they are

  const axes = () => store.state.order.map((index) => scene.model.objectives[index]);
  const lastAxis = () => Math.max(1, scene.model.objectives.length - 1);
  const side = () => Math.min(INSET.side, surface.width * 0.09);
  const axisX = (position) => side() + (position * (surface.width - 2 * side())) / lastAxis();
  const place = (objective, value) =>
    surface.height -
    INSET.bottom -
    fraction(objective, value, store.state.flipped) * (surface.height - INSET.top - INSET.bottom);

  function measure() {
    heights = axes().map((objective) =>
      Float32Array.from(scene.run.values[objective.index], (value) => place(objective, value)),
    );
  }

  function tracePolicy(context, policy) {
    context.moveTo(axisX(0), heights[0][policy]);
    for (let position = 1; position < heights.length; position += 1) {
      context.lineTo(axisX(position), heights[position][policy]);
    }
  }

  function strokeLines(layer, colour, isWanted) {
    const context = clearLayer(surface, layer);
    context.strokeStyle = colour;
    context.lineWidth = 1.6;
    context.globalAlpha = 0.85;
    for (let policy = 0; policy < scene.run.size; policy += 1) {
      if (!isWanted(policy)) continue;
      context.beginPath();
      tracePolicy(context, policy);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  function countLine(density, policy, amount) {
    const ratio = surface.canvases[0].width / surface.width;
    for (let position = 1; position < heights.length; position += 1) {
      density.addLine(
        axisX(position - 1) * ratio,
        heights[position - 1][policy] * ratio,
        axisX(position) * ratio,
        heights[position][policy] * ratio,
        amount,
      );
    }
  }

  function countAll() {
    const { width, height } = surface.canvases[0];
    const density = createDensity(width, height);
    for (let policy = 0; policy < scene.run.size; policy += 1) countLine(density, policy, 1);
    counted = { density, mask: new Uint8Array(scene.run.size).fill(1) };
    density.paint(surface.contexts[0], palette().faded, 0.4);
  }

  function drawKept() {
    if (scene.run.size <= MOST_STROKES) {
      strokeLines(1, palette().point, (policy) => scene.mask[policy]);
      return;
    }
    // A brush changes few lines: only those are added and removed.
    for (let policy = 0; policy < scene.run.size; policy += 1) {
      const change = scene.mask[policy] - counted.mask[policy];
      if (change !== 0) countLine(counted.density, policy, change);
    }
    counted.mask = scene.mask;
    const opacity = scene.count > 2000 ? 0.16 : scene.count > MOST_STROKES ? 0.3 : 0.7;
    counted.density.paint(surface.contexts[1], palette().point, opacity);
  }

  function redraw() {
    if (!surface.width) return;
    measure();
    if (scene.run.size > MOST_STROKES) countAll();
    else strokeLines(0, palette().faded, () => true);
    drawOverlays(surface.contexts[0]);
    drawKept();
    drawTop();
  }

  function drawAxis(context, objective, position) {
    const colour = palette();
    const x = axisX(position);
    const [top, bottom] = [INSET.top, surface.height - INSET.bottom];
    const gap = surface.width / axes().length;
    context.strokeStyle = colour.quiet;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, bottom);
    context.stroke();
    const count = axes().length;
    const align = position === 0 ? 'left' : position === count - 1 ? 'right' : 'center';
    const anchor = position === 0 ? 4 : position === count - 1 ? surface.width - 4 : x;
    const isCrowded = gap < 90;
    const room = (isCrowded ? 1.9 : 0.95) * gap;
    context.textAlign = align;
    context.textBaseline = 'alphabetic';
    context.fillStyle = colour.ink;
    context.font = '600 12px system-ui, sans-serif';
    const titleY = isCrowded && position % 2 ? 28 : 14;
    context.fillText(shortened(context, objective.name, room), anchor, titleY);
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colour.quiet;
    const direction = objective.sign > 0 ? 'more is better' : 'less is better';
    const about = objective.unit ? `${objective.unit}, ${direction}` : direction;
    if (!isCrowded) context.fillText(shortened(context, about, room), anchor, 29);
    context.textAlign = 'center';
    const isFlipped = store.state.flipped.includes(objective.index);
    const upper = objective.sign > 0 !== isFlipped ? objective.high : objective.low;
    const lower = objective.sign > 0 !== isFlipped ? objective.low : objective.high;
    if (gap > 52 || position % 2 === 0) {
      context.fillText(formatNumber(upper), x, top - 8);
      context.fillText(formatNumber(lower), x, bottom + 16);
    }
    if (gap > 120) {
      context.textAlign = position === count - 1 ? 'right' : 'left';
      context.textBaseline = 'middle';
      const shift = position === count - 1 ? -7 : 7;
      for (const tick of ticks(objective, 4)) {
        const y = place(objective, tick);
        if (Math.abs(y - top) < 24 || Math.abs(y - bottom) < 24) continue;
        context.fillText(formatNumber(tick), x + shift, y);
        context.fillRect(x - 3, y - 0.5, 6, 1);
      }
    }
    drawLimit(context, objective, x, top, bottom);
  }

  function drawLimit(context, objective, x, top, bottom) {
    const limit = store.state.limits[objective.index];
    if (limit === null) return;
    const colour = palette();
    const y = Math.min(bottom, Math.max(top, place(objective, limit)));
    const end = store.state.flipped.includes(objective.index) ? bottom : top;
    context.strokeStyle = colour.limit;
    context.lineWidth = 5;
    context.globalAlpha = 0.45;
    context.beginPath();
    context.moveTo(x, end);
    context.lineTo(x, y);
    context.stroke();
    context.globalAlpha = 1;
    context.fillStyle = colour.limit;
    context.fillRect(x - 11, y - 3, 22, 6);
    context.font = '600 11px system-ui, sans-serif';
    const text = formatNumber(limit);
    const isLast = x > surface.width - 70;
    badge(
      context,
      text,
      isLast ? x - 22 - context.measureText(text).width : x + 13,
      y,
      colour.limit,
    );
  }

  function traceColumns(context, columns, row) {
    axes().forEach((objective, position) => {
      const y = place(objective, columns[objective.index][row]);
      if (position === 0) context.moveTo(axisX(position), y);
      else context.lineTo(axisX(position), y);
    });
  }

  function strokeColumns(context, columns, colour, dash) {
    context.strokeStyle = colour;
    context.lineWidth = 1.2;
    context.globalAlpha = columns[0].length > 60 ? 0.25 : 0.5;
    context.setLineDash(columns[0].length > 300 ? [] : dash);
    for (let row = 0; row < columns[0].length; row += 1) {
      context.beginPath();
      traceColumns(context, columns, row);
      context.stroke();
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  function drawOverlays(context) {
    for (const { columns, colour, dash } of shownOverlays(scene)) {
      strokeColumns(context, columns, colour, dash);
    }
  }

  function drawHighlight(context, { policy, colour, label, isPicked }) {
    context.strokeStyle = palette().card;
    context.lineWidth = 6;
    context.beginPath();
    tracePolicy(context, policy);
    context.stroke();
    context.strokeStyle = colour;
    context.lineWidth = 3;
    context.stroke();
    if (isPicked && scene.run.requested) {
      context.lineWidth = 1.5;
      context.setLineDash([4, 4]);
      context.beginPath();
      traceColumns(context, scene.run.requested, policy);
      context.stroke();
      context.setLineDash([]);
    }
    context.lineWidth = 2;
    axes().forEach((objective, position) => {
      const interval = scene.run.interval(objective.index, policy);
      const x = axisX(position);
      if (interval) {
        context.beginPath();
        for (const end of interval) {
          context.moveTo(x - 4, place(objective, end));
          context.lineTo(x + 4, place(objective, end));
        }
        context.moveTo(x, place(objective, interval[0]));
        context.lineTo(x, place(objective, interval[1]));
        context.stroke();
      }
      context.fillStyle = colour;
      mark(context, 'circle', x, heights[position][policy], 4);
      context.fill();
    });
    context.font = '600 12px system-ui, sans-serif';
    if (label) badge(context, label, Math.max(2, axisX(0) - 20), heights[0][policy], colour);
  }

  function drawTop() {
    const context = clearLayer(surface, 2);
    const { hover } = store.state;
    if (hover !== null && hover < scene.run.size) {
      context.strokeStyle = palette().ink;
      context.lineWidth = 2;
      context.beginPath();
      tracePolicy(context, hover);
      context.stroke();
    }
    highlights(scene).forEach((highlight) => drawHighlight(context, highlight));
    axes().forEach((objective, position) => drawAxis(context, objective, position));
  }

  function axisUnder(x) {
    const position = Math.round(
      ((x - side()) / (surface.width - 2 * side())) * (axes().length - 1),
    );
    return Math.min(axes().length - 1, Math.max(0, position));
  }

  function nearest(x, y) {
    const gap = (surface.width - 2 * side()) / Math.max(1, axes().length - 1);
    const exact = Math.min(axes().length - 1, Math.max(0, (x - side()) / gap));
    const left = Math.min(Math.floor(exact), Math.max(0, axes().length - 2));
    const right = Math.min(left + 1, axes().length - 1);
    const share = exact - left;
    let found = null;
    let closest = 12;
    for (let policy = 0; policy < scene.run.size; policy += 1) {
      const there = heights[left][policy] * (1 - share) + heights[right][policy] * share;
      const distance = Math.abs(there - y) + (scene.mask[policy] ? 0 : 4);
      if (distance < closest) {
        closest = distance;
        found = policy;
      }
    }
    return found;
  }

  function moveLimit(y) {
    const objective = axes()[drag.position];
    const share = (surface.height - INSET.bottom - y) / (surface.height - INSET.top - INSET.bottom);
    const value = valueAt(objective, Math.min(1, Math.max(0, share)), store.state.flipped);
    const limits = [...store.state.limits];
    limits[objective.index] = roundedLimit(objective, value);
    store.set({ limits });
  }

  function moveAxis(x) {
    const to = axisUnder(x);
    if (to === drag.position) return;
    const order = [...store.state.order];
    order.splice(to, 0, ...order.splice(drag.position, 1));
    drag.position = to;
    store.set({ order });
  }

  surface.top.addEventListener('pointerdown', (event) => {
    const [x, y] = pointerAt(event, surface);
    const position = axisUnder(x);
    const isNear = Math.abs(axisX(position) - x) < GRIP;
    if (y < REORDER_HEIGHT) drag = { kind: 'axis', position, x, y };
    else if (isNear) drag = { kind: 'limit', position, x, y };
    else drag = { kind: 'none', x, y };
    surface.top.setPointerCapture(event.pointerId);
  });
  surface.top.addEventListener('pointermove', (event) => {
    const [x, y] = pointerAt(event, surface);
    if (drag && (drag.moved || Math.hypot(x - drag.x, y - drag.y) > 3)) {
      drag.moved = true;
      hideTooltip();
      if (drag.kind === 'limit') moveLimit(y);
      else if (drag.kind === 'axis') moveAxis(x);
      return;
    }
    const isOnAxis = Math.abs(axisX(axisUnder(x)) - x) < GRIP;
    surface.top.style.cursor =
      y < REORDER_HEIGHT ? 'ew-resize' : isOnAxis ? 'ns-resize' : 'pointer';
    const policy = y < REORDER_HEIGHT ? null : nearest(x, y);
    hoverPolicy(event, policy, { store, scene });
  });
  surface.top.addEventListener('pointerup', (event) => {
    const policy = nearest(...pointerAt(event, surface));
    if (drag && !drag.moved && drag.kind !== 'axis' && policy !== null) pick(policy);
    drag = null;
  });
  surface.top.addEventListener('pointercancel', () => {
    drag = null;
  });
  surface.top.addEventListener('pointerleave', () => endHover(store));
  surface.top.addEventListener('dblclick', (event) => {
    const objective = axes()[axisUnder(pointerAt(event, surface)[0])];
    const limits = [...store.state.limits];
    limits[objective.index] = null;
    store.set({ limits });
  });
  header.append(
    make('span', {
      class: 'hint',
      text: 'Drag along an axis to set its limit, drag a title to reorder.',
    }),
  );

  return {
    canvases: surface.canvases,
    orderBy: () => axes()[0],
    update: (changed) => {
      if (!surface.width) return;
      if (
        ['run', 'order', 'flipped', 'overlays', 'scheme', 'views'].some((key) => changed.has(key))
      )
        redraw();
      else {
        if (changed.has('limits')) drawKept();
        drawTop();
      }
    },
  };
}
