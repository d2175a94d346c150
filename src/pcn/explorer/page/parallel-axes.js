// The axes of parallel coordinates: titles, ends, ticks, and the limit on each.

import { formatNumber, ticks } from './data.js';
import { badge, palette, shortened } from './surface.js';

export const INSET = { side: 46, top: 54, bottom: 30 };

export function drawAxis(context, geometry, scene, position) {
  const { surface, axes, axisX, place } = geometry;
  const objective = axes()[position];
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
  const isFlipped = scene.state.flipped.includes(objective.index);
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
  drawLimit(context, geometry, scene, { objective, x, top, bottom });
}

function drawLimit(context, { surface, place }, scene, { objective, x, top, bottom }) {
  const limit = scene.state.limits[objective.index];
  if (limit === null) return;
  const colour = palette();
  const y = Math.min(bottom, Math.max(top, place(objective, limit)));
  const end = scene.state.flipped.includes(objective.index) ? bottom : top;
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
  badge(context, text, isLast ? x - 22 - context.measureText(text).width : x + 13, y, colour.limit);
}
