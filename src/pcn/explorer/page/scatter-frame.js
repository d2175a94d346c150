// What stands around the points of a scatter: axes, limits, the ideal and the nadir.

import { formatNumber, ticks } from './data.js';
import { axisTitle, mark, palette, shortened } from './surface.js';

export const EDGES = { left: 62, right: 22, top: 20, bottom: 48 };

export function drawAxes(context, { surface, place }, scene, [across, up]) {
  const { width, height } = surface;
  const colour = palette();
  context.lineWidth = 1;
  context.strokeStyle = colour.line;
  context.fillStyle = colour.quiet;
  context.textAlign = 'center';
  context.textBaseline = 'top';
  for (const tick of ticks(across, Math.max(3, (width - 90) / 70))) {
    const x = Math.round(place(across, tick, true)) + 0.5;
    context.beginPath();
    context.moveTo(x, EDGES.top);
    context.lineTo(x, height - EDGES.bottom);
    context.stroke();
    context.fillText(formatNumber(tick), x, height - EDGES.bottom + 7);
  }
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const tick of ticks(up, Math.max(3, (height - 60) / 60))) {
    const y = Math.round(place(up, tick, false)) + 0.5;
    context.beginPath();
    context.moveTo(EDGES.left, y);
    context.lineTo(width - EDGES.right, y);
    context.stroke();
    context.fillText(formatNumber(tick), EDGES.left - 8, y);
  }
  context.fillStyle = colour.ink;
  context.textAlign = 'right';
  context.textBaseline = 'bottom';
  const acrossTitle = shortened(
    context,
    axisTitle(across, scene),
    width - EDGES.left - EDGES.right,
  );
  context.fillText(acrossTitle, width - EDGES.right, height - 6);
  context.save();
  context.translate(15, EDGES.top);
  context.rotate(-Math.PI / 2);
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  context.fillText(shortened(context, axisTitle(up, scene), height - 60), 0, 0);
  context.restore();
}

export function drawLimits(context, { surface, place }, scene, [across, up]) {
  const { width, height } = surface;
  const colour = palette();
  const limits = scene.state.limits;
  context.strokeStyle = colour.limit;
  context.fillStyle = colour.limit;
  context.lineWidth = 1.5;
  context.setLineDash([5, 4]);
  if (limits[across.index] !== null) {
    const x = place(across, limits[across.index], true);
    context.beginPath();
    context.moveTo(x, EDGES.top);
    context.lineTo(x, height - EDGES.bottom);
    context.stroke();
    mark(context, 'triangle', x, height - EDGES.bottom + 5, 5);
    context.fill();
  }
  if (limits[up.index] !== null) {
    const y = place(up, limits[up.index], false);
    context.beginPath();
    context.moveTo(EDGES.left, y);
    context.lineTo(width - EDGES.right, y);
    context.stroke();
    mark(context, 'diamond', EDGES.left, y, 4.5);
    context.fill();
  }
  context.setLineDash([]);
}

export function drawCorner(context, { surface, place }, values, [across, up], name) {
  const x = place(across, values[across.index], true);
  const y = place(up, values[up.index], false);
  context.strokeStyle = palette().quiet;
  context.lineWidth = 1.5;
  mark(context, 'plus', x, y, 6);
  context.stroke();
  context.fillStyle = palette().quiet;
  const isRight = x > surface.width / 2;
  context.textAlign = isRight ? 'right' : 'left';
  context.textBaseline = y < surface.height / 2 ? 'top' : 'bottom';
  context.fillText(name, x + (isRight ? -9 : 9), y);
}
