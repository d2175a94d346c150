// Parallel coordinates: one axis per objective, one line per policy, better is up.

import { make } from './dom.js';
import { fraction } from './data.js';
import { shownOverlays } from './overlays.js';
import { createDensity } from './density.js';
import { INSET, drawAxis } from './parallel-axes.js';
import { listenToPointer } from './parallel-pointer.js';
import { badge, clearLayer, createSurface, highlights, mark, palette } from './surface.js';

const MOST_STROKES = 300; // policies beyond which lines are counted per pixel

export function createParallel(host, header, { store, scene, pick }) {
  const chart = make('div', { class: 'chart' });
  host.append(chart);
  const surface = createSurface(chart, {
    label: 'Parallel coordinates. Arrow keys pick the next policy, P pins it.',
    layers: 3,
    onResize: () => redraw(),
  });
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
    const geometry = { surface, axes, axisX, place };
    axes().forEach((_, position) => drawAxis(context, geometry, scene, position));
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

  listenToPointer({ surface, axes, axisX, axisUnder, nearest }, { store, scene, pick });
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
