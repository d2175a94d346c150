// Scatter matrix: every pair of objectives in a small cell, painted pixel by pixel to stay quick.

import { make } from './dom.js';
import { formatNumber, fraction } from './data.js';
import { endHover, hoverPolicy, nearestPolicy } from './pointing.js';
import { packedColour } from './density.js';
import { clearLayer, createSurface, highlights, mark, palette } from './surface.js';
import { pointerAt, shortened } from './surface.js';

const GAP = 6; // pixels between cells
const LABEL_WIDTH = 96; // pixels for the names of the rows, right of the diagonal
const FOOT = 34; // pixels for the ends and the names of the columns
const MOST_CIRCLES = 200; // policies beyond which points are squares of pixels
const CELL_REACH = 9; // pixels within which the pointer means a point

export function createMatrix(host, header, { store, scene, pick }) {
  const chart = make('div', { class: 'chart chart-tall' });
  host.append(chart);
  const surface = createSurface(chart, {
    label: 'Scatter matrix of all pairs of objectives. Arrow keys pick the next policy.',
    layers: 2,
    onResize: () => redraw(),
  });
  header.append(
    make('span', { class: 'hint', text: 'Click an empty place in a cell to see that pair large.' }),
  );

  let measured = null;
  const axes = () => store.state.order.map((index) => scene.model.objectives[index]);
  const cellWidth = () => (surface.width - GAP - LABEL_WIDTH) / (axes().length - 1) - GAP;
  const cellHeight = () => (surface.height - GAP - FOOT) / (axes().length - 1) - GAP;
  const cellLeft = (column) => GAP + column * (cellWidth() + GAP);
  const cellTop = (row) => GAP + (row - 1) * (cellHeight() + GAP);

  function positions(objective, length) {
    return Float32Array.from(
      scene.run.values[objective.index],
      (value) => fraction(objective, value, store.state.flipped) * length,
    );
  }

  function paintCells() {
    if (scene.run.size > MOST_CIRCLES) paintPixels();
    else paintCircles();
  }

  function paintCircles() {
    const context = clearLayer(surface, 0);
    const { run, mask } = scene;
    const across = axes().map((objective) => positions(objective, cellWidth()));
    const up = axes().map((objective) => positions(objective, cellHeight()));
    const radius = axes().length > 5 ? 2 : 3.5;
    for (const wanted of [0, 1]) {
      context.fillStyle = wanted ? palette().point : palette().faded;
      for (let row = 1; row < axes().length; row += 1) {
        for (let column = 0; column < row; column += 1) {
          for (let policy = 0; policy < run.size; policy += 1) {
            if (mask[policy] !== wanted) continue;
            const x = cellLeft(column) + across[column][policy];
            const y = cellTop(row) + cellHeight() - up[row][policy];
            mark(context, 'circle', x, y, radius);
            context.fill();
          }
        }
      }
    }
  }

  function measure() {
    // Where each policy's square begins in each cell, as an index of a pixel.
    const { width, height } = surface.canvases[0];
    const ratio = width / surface.width;
    const dot = Math.round((scene.run.size > 1500 ? 1.5 : 2.5) * ratio);
    const across = axes().map((objective) => positions(objective, cellWidth() * ratio));
    const up = axes().map((objective) => positions(objective, cellHeight() * ratio));
    const cells = [];
    for (let row = 1; row < axes().length; row += 1) {
      for (let column = 0; column < row; column += 1) {
        const left = Math.round(cellLeft(column) * ratio - dot / 2);
        const bottom = Math.round((cellTop(row) + cellHeight()) * ratio - dot / 2);
        cells.push(
          Int32Array.from(
            across[column],
            (x, policy) => (bottom - Math.round(up[row][policy])) * width + left + Math.round(x),
          ),
        );
      }
    }
    const faded = new Uint32Array(width * height);
    measured = { cells, dot, width, faded };
    const colour = packedColour(palette().faded);
    for (const cell of cells) {
      for (let policy = 0; policy < cell.length; policy += 1) putDot(faded, cell[policy], colour);
    }
  }

  function putDot(pixels, start, colour) {
    const { dot, width } = measured;
    for (let row = 0; row < dot; row += 1) {
      for (let column = 0; column < dot; column += 1) pixels[start + row * width + column] = colour;
    }
  }

  function paintPixels() {
    // Writing pixels directly: nine objectives with 5,000 policies are 180,000 points.
    const { width, height } = surface.canvases[0];
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    pixels.set(measured.faded);
    const colour = packedColour(palette().point);
    const kept = Uint32Array.from(scene.mask.keys()).filter((policy) => scene.mask[policy]);
    for (const cell of measured.cells) {
      for (let index = 0; index < kept.length; index += 1)
        putDot(pixels, cell[kept[index]], colour);
    }
    surface.contexts[0].putImageData(image, 0, 0);
  }

  function drawTop() {
    const context = clearLayer(surface, 1);
    const colour = palette();
    const objectives = axes();
    context.lineWidth = 1;
    for (let row = 1; row < objectives.length; row += 1) {
      for (let column = 0; column < row; column += 1) {
        drawCell(context, objectives, row, column);
      }
    }
    context.font = '600 11px system-ui, sans-serif';
    context.fillStyle = colour.ink;
    context.textBaseline = 'middle';
    objectives.forEach((objective, index) => {
      // A row is named right of its last cell, a column below its last cell.
      context.textAlign = 'left';
      const rowName = shortened(context, `↑ ${objective.name}`, LABEL_WIDTH - GAP);
      if (index > 0)
        context.fillText(rowName, cellLeft(index) + 2, cellTop(index) + cellHeight() / 2);
      context.textAlign = 'center';
      const columnName = shortened(context, objective.name, cellWidth());
      if (index < objectives.length - 1) {
        context.fillText(columnName, cellLeft(index) + cellWidth() / 2, surface.height - 9);
      }
    });
    drawEnds(context, objectives);
  }

  function drawEnds(context, objectives) {
    // The lowest and the highest value of each column below it, and of each row beside it.
    context.font = '10px system-ui, sans-serif';
    context.fillStyle = palette().quiet;
    const ends = (objective) => {
      const isFlipped = store.state.flipped.includes(objective.index);
      const { low, high } = objective;
      return objective.sign > 0 !== isFlipped ? [low, high] : [high, low];
    };
    objectives.forEach((objective, index) => {
      const [first, last] = ends(objective);
      const size = (value, length) => fraction(objective, value, store.state.flipped) * length;
      const foot = surface.height - FOOT + 8;
      if (index < objectives.length - 1 && cellWidth() > 60) {
        context.textAlign = 'center';
        const left = cellLeft(index);
        context.fillText(formatNumber(first), left + Math.max(14, size(first, cellWidth())), foot);
        const most = cellWidth() - 14;
        context.fillText(formatNumber(last), left + Math.min(most, size(last, cellWidth())), foot);
      }
      if (index > 0 && cellHeight() > 44) {
        context.textAlign = 'left';
        const bottom = cellTop(index) + cellHeight();
        const x = cellLeft(index) + 2;
        context.fillText(formatNumber(first), x, bottom - size(first, cellHeight()));
        context.fillText(formatNumber(last), x, bottom - size(last, cellHeight()));
      }
    });
  }

  const placeIn = ({ row, column }) => {
    const [across, up] = [axes()[column], axes()[row]];
    const { flipped } = store.state;
    const shareOf = (axis, policy) => fraction(axis, scene.run.values[axis.index][policy], flipped);
    return (policy) => [
      cellLeft(column) + cellWidth() * shareOf(across, policy),
      cellTop(row) + cellHeight() * (1 - shareOf(up, policy)),
    ];
  };

  function drawCell(context, objectives, row, column) {
    const colour = palette();
    const [left, top] = [cellLeft(column), cellTop(row)];
    const [width, height] = [cellWidth(), cellHeight()];
    context.strokeStyle = colour.line;
    context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    const { flipped, limits, hover } = store.state;
    const place = placeIn({ row, column });
    context.strokeStyle = colour.limit;
    context.setLineDash([3, 3]);
    const limitX = limits[objectives[column].index];
    const limitY = limits[objectives[row].index];
    context.beginPath();
    if (limitX !== null) {
      const x = left + width * fraction(objectives[column], limitX, flipped);
      context.moveTo(x, top);
      context.lineTo(x, top + height);
    }
    if (limitY !== null) {
      const y = top + height * (1 - fraction(objectives[row], limitY, flipped));
      context.moveTo(left, y);
      context.lineTo(left + width, y);
    }
    context.stroke();
    context.setLineDash([]);
    for (const { policy, colour: own } of highlights(scene)) {
      context.fillStyle = own;
      mark(context, 'circle', ...place(policy), 4.5);
      context.fill();
    }
    if (hover !== null && hover < scene.run.size) {
      context.strokeStyle = colour.ink;
      mark(context, 'circle', ...place(hover), 5.5);
      context.stroke();
    }
  }

  function redraw() {
    if (surface.width && scene.run.size > MOST_CIRCLES) measure();
    draw();
  }

  function draw() {
    if (!surface.width) return;
    paintCells();
    drawTop();
  }

  function cellUnder(x, y) {
    const column = Math.floor((x - GAP) / (cellWidth() + GAP));
    const row = Math.floor((y - GAP) / (cellHeight() + GAP)) + 1;
    return row < axes().length && row > column && column >= 0 ? { row, column } : null;
  }

  function nearest(x, y) {
    const cell = cellUnder(x, y);
    return cell ? nearestPolicy(scene, placeIn(cell), [x, y], CELL_REACH) : null;
  }

  surface.top.addEventListener('pointermove', (event) => {
    const policy = nearest(...pointerAt(event, surface));
    hoverPolicy(event, policy, { store, scene });
  });
  surface.top.addEventListener('pointerleave', () => endHover(store));
  surface.top.addEventListener('click', (event) => {
    const place = pointerAt(event, surface);
    const policy = nearest(...place);
    const cell = cellUnder(...place);
    if (policy !== null) pick(policy);
    else if (cell) {
      const [x, y] = [axes()[cell.column].index, axes()[cell.row].index];
      const { views, axes: shown } = store.state;
      const withScatter = views.includes('scatter') ? views : ['scatter', ...views];
      store.set({ axes: [x, y, shown[2]], views: withScatter });
    }
  });

  return {
    canvases: surface.canvases,
    orderBy: () => axes()[0],
    update: (changed) => {
      if (!surface.width) return;
      const moves = ['run', 'order', 'flipped', 'scheme', 'views'];
      if (moves.some((key) => changed.has(key))) redraw();
      else if (changed.has('limits')) draw();
      else drawTop();
    },
  };
}
