// Three objectives in space: points are sorted by depth and painted from back to front.

import { choice, hideTooltip, make } from './dom.js';
import { fraction, withUnit } from './data.js';
import { shownOverlays } from './overlays.js';
import { endHover, hoverPolicy, nearestPolicy } from './pointing.js';
import { badge, clearLayer, createSurface, highlights, ring } from './surface.js';
import { mark, palette, pointerAt } from './surface.js';

const GRID_LINES = 4; // cells of the grid on each wall
const NEAR = 14; // pixels within which the pointer means a point

export function createScatter3d(host, header, { store, scene, pick }) {
  const chart = make('div', { class: 'chart' });
  host.append(chart);
  const surface = createSurface(chart, {
    label: 'Scatter of three objectives. Drag or hold Shift with the arrow keys to turn it.',
    onResize: () => redraw(),
  });
  let turn = -2.2;
  let tilt = 0.5;
  let drag = null;
  let projected = { x: [], y: [], depth: [], order: [] };

  function project(a, b, c) {
    // The third objective points upwards; a little perspective makes near points larger.
    const [x, y, z] = [a - 0.5, b - 0.5, c - 0.5];
    const right = x * Math.cos(turn) - y * Math.sin(turn);
    const away = x * Math.sin(turn) + y * Math.cos(turn);
    const upwards = z * Math.cos(tilt) + away * Math.sin(tilt);
    const depth = away * Math.cos(tilt) - z * Math.sin(tilt);
    const size = Math.min(surface.width * 0.58, surface.height * 0.58);
    const scale = size / (1 + 0.25 * depth);
    return [surface.width / 2 + right * scale, surface.height * 0.48 - upwards * scale, depth];
  }

  const axes = () => store.state.axes.map((index) => scene.model.objectives[index]);
  const shares = (columns, row) =>
    axes().map((axis) => fraction(axis, columns[axis.index][row], store.state.flipped));

  function drawWalls(context) {
    // The three walls meet in the corner of the worst values; points are in front of them.
    context.strokeStyle = palette().line;
    context.lineWidth = 1;
    const walls = [(a, b) => [a, b, 0], (a, b) => [a, 0, b], (a, b) => [0, a, b]];
    context.beginPath();
    for (const wall of walls) {
      for (let line = 0; line <= GRID_LINES; line += 1) {
        const share = line / GRID_LINES;
        for (const [from, to] of [
          [wall(share, 0), wall(share, 1)],
          [wall(0, share), wall(1, share)],
        ]) {
          context.moveTo(...project(...from).slice(0, 2));
          context.lineTo(...project(...to).slice(0, 2));
        }
      }
    }
    context.stroke();
    axes().forEach((objective, slot) => drawAxisName(context, objective, slot));
  }

  function drawAxisName(context, objective, slot) {
    const end = [0, 0, 0];
    end[slot] = 1;
    const [startX, startY] = project(0, 0, 0);
    const [x, y] = project(...end);
    context.strokeStyle = palette().quiet;
    context.beginPath();
    context.moveTo(startX, startY);
    context.lineTo(x, y);
    context.stroke();
    const isFlipped = store.state.flipped.includes(objective.index);
    const value = objective.sign > 0 !== isFlipped ? objective.high : objective.low;
    const text = `${objective.name} ${withUnit(objective, value)}`;
    const half = context.measureText(text).width / 2;
    context.fillStyle = palette().ink;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    const anchor = Math.max(half + 4, Math.min(surface.width - half - 4, x + (x - startX) * 0.08));
    context.fillText(text, anchor, Math.max(8, y + (y < startY ? -12 : 16)));
  }

  function drawOverlays(context) {
    context.lineWidth = 1.2;
    context.globalAlpha = 0.7;
    for (const { columns, colour, shape, radius } of shownOverlays(scene)) {
      context.strokeStyle = colour;
      for (let row = 0; row < columns[0].length; row += 1) {
        const [x, y] = project(...shares(columns, row));
        mark(context, shape, x, y, radius);
        context.stroke();
      }
    }
    context.globalAlpha = 1;
  }

  function projectAll() {
    // Kept until the view, the axes or the run change: a limit only changes colours.
    const { run } = scene;
    const [x, y, depth] = [0, 1, 2].map(() => new Float32Array(run.size));
    for (let policy = 0; policy < run.size; policy += 1) {
      [x[policy], y[policy], depth[policy]] = project(...shares(run.values, policy));
    }
    const order = Uint32Array.from(x.keys()).sort((one, other) => depth[other] - depth[one]);
    projected = { x, y, depth, order };
  }

  function drawCorners(context) {
    const { run } = scene;
    const ideal = axes().map((axis) => fraction(axis, run.ideal[axis.index], store.state.flipped));
    const nadir = axes().map((axis) => fraction(axis, run.nadir[axis.index], store.state.flipped));
    for (const [corner, name] of [
      [ideal, 'ideal'],
      [nadir, 'nadir'],
    ]) {
      const [x, y] = project(...corner);
      context.strokeStyle = palette().quiet;
      context.lineWidth = 1.5;
      mark(context, 'plus', x, y, 6);
      context.stroke();
      badge(context, name, x + 6, y - 10, palette().quiet);
    }
  }

  function drawPoints(context) {
    const { run, mask } = scene;
    const colour = palette();
    const base = run.size > 1500 ? 2 : run.size > 300 ? 3 : 5.5;
    for (const policy of projected.order) {
      const nearness = 0.5 - projected.depth[policy];
      context.fillStyle = mask[policy] ? colour.point : colour.faded;
      context.globalAlpha = Math.min(1, Math.max(0.45, 0.55 + 0.5 * nearness));
      const radius = base * (0.8 + 0.35 * nearness);
      const [x, y] = [projected.x[policy], projected.y[policy]];
      if (run.size > 1500) context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
      else {
        mark(context, 'circle', x, y, radius);
        context.fill();
        context.strokeStyle = colour.card;
        context.lineWidth = 0.8;
        context.stroke();
      }
    }
    context.globalAlpha = 1;
  }

  function drawHighlights(context) {
    const { run } = scene;
    for (const { policy, colour, label, isPicked } of highlights(scene)) {
      const place = shares(run.values, policy);
      const [x, y] = project(...place);
      const [floorX, floorY] = project(place[0], place[1], 0);
      context.strokeStyle = colour;
      context.setLineDash([3, 3]);
      context.lineWidth = 1.2;
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(floorX, floorY);
      context.stroke();
      context.setLineDash([]);
      mark(context, 'cross', floorX, floorY, 3);
      context.stroke();
      context.fillStyle = colour;
      mark(context, 'circle', x, y, 7.5);
      context.fill();
      context.strokeStyle = palette().card;
      context.lineWidth = 2;
      context.stroke();
      if (isPicked) ring(context, x, y, colour);
      if (label) badge(context, label, x - 22, y, colour);
    }
    const { hover } = store.state;
    if (hover !== null && hover < run.size) {
      context.strokeStyle = palette().ink;
      context.lineWidth = 1.5;
      mark(context, 'circle', projected.x[hover], projected.y[hover], 9);
      context.stroke();
    }
  }

  function redraw() {
    projectAll();
    draw();
  }

  function draw() {
    if (!surface.width) return;
    const context = clearLayer(surface, 0);
    drawWalls(context);
    drawCorners(context); // first: their names cover what is below them
    drawOverlays(context);
    drawPoints(context);
    drawHighlights(context);
  }

  function nearest(x, y) {
    const placeOf = (policy) => [projected.x[policy], projected.y[policy]];
    return nearestPolicy(scene, placeOf, [x, y], NEAR);
  }

  surface.top.addEventListener('pointerdown', (event) => {
    const [x, y] = pointerAt(event, surface);
    drag = { x, y, turn, tilt, moved: false };
    surface.top.setPointerCapture(event.pointerId);
  });
  surface.top.addEventListener('pointermove', (event) => {
    const [x, y] = pointerAt(event, surface);
    if (drag && (drag.moved || Math.hypot(x - drag.x, y - drag.y) > 4)) {
      drag.moved = true;
      turn = drag.turn - (x - drag.x) * 0.008;
      tilt = Math.max(-1.4, Math.min(1.4, drag.tilt + (y - drag.y) * 0.008));
      hideTooltip();
      requestAnimationFrame(redraw);
      return;
    }
    const policy = nearest(x, y);
    hoverPolicy(event, policy, { store, scene });
  });
  surface.top.addEventListener('pointerup', (event) => {
    const policy = nearest(...pointerAt(event, surface));
    if (drag && !drag.moved && policy !== null) pick(policy);
    drag = null;
  });
  surface.top.addEventListener('pointercancel', () => {
    drag = null;
  });
  surface.top.addEventListener('pointerleave', () => endHover(store));
  surface.top.addEventListener('keydown', (event) => {
    if (!event.shiftKey || !event.key.startsWith('Arrow')) return;
    if (event.key === 'ArrowLeft') turn += 0.15;
    if (event.key === 'ArrowRight') turn -= 0.15;
    if (event.key === 'ArrowUp') tilt = Math.min(1.4, tilt + 0.15);
    if (event.key === 'ArrowDown') tilt = Math.max(-1.4, tilt - 0.15);
    event.preventDefault();
    redraw();
  });

  const options = scene.model.objectives.map(({ name, index }) => ({ value: index, text: name }));
  const selects = ['First axis', 'Second axis', 'Third axis'].map((label, slot) =>
    choice(label, options, store.state.axes[slot], (value) => {
      const chosen = [...store.state.axes];
      chosen[slot] = Number(value);
      store.set({ axes: chosen });
    }),
  );
  if (scene.model.objectives.length > 3) header.append(...selects);
  else {
    const text = 'Drag to turn. Better is up and out of the corner.';
    header.append(make('span', { class: 'hint', text }));
  }

  return {
    canvases: surface.canvases,
    orderBy: () => axes()[0],
    update: (changed) => {
      selects.forEach((select, slot) => {
        select.value = String(store.state.axes[slot]);
      });
      const moves = ['run', 'axes', 'flipped', 'scheme', 'views'].some((key) => changed.has(key));
      if (moves) redraw();
      else draw();
    },
  };
}
