// What may be laid over the policies of a run: its archive, other runs, and the known front.

import { palette } from './surface.js';

const RUN_SHAPES = ['triangle', 'square', 'diamond', 'plus'];
const FRONT_NAMES = { proven: 'known front', claimed: 'claimed front' };
const RUN_SIGNS = ['△', '□', '◇', '+'];

export function overlayChoices(model) {
  // The name in the address, the words, the sign and, if there is one, the source of everything
  // that can be laid over.
  const found = [];
  if (model.knownFront) {
    const text = FRONT_NAMES[model.knownFront.status] ?? 'best known front';
    found.push({ name: 'front', text, sign: '○', title: model.knownFront.source });
  }
  if (model.runs.some(({ archiveSize }) => archiveSize > 0)) {
    found.push({
      name: 'archive',
      text: 'archive',
      sign: '∘',
      title: 'the best returns that single episodes of the training had',
    });
  }
  if (model.runs.length > 1) {
    for (const { name, index } of model.runs) {
      found.push({ name: `run${index}`, text: name, sign: RUN_SIGNS[index % 4] });
    }
  }
  return found;
}

export function shownOverlays({ state, model, run }) {
  // What is laid over now: columns of values, and how they are drawn as points and as lines.
  const colour = palette();
  const found = [];
  const isShown = (name) => state.overlays.includes(name);
  if (isShown('archive')) {
    const look = { colour: colour.quiet, shape: 'circle', radius: 2.5, dash: [1, 3] };
    found.push({ name: 'archive', columns: run.archiveColumns, ...look });
  }
  for (const other of model.runs) {
    if (other === run || !isShown(`run${other.index}`)) continue;
    const look = { shape: RUN_SHAPES[other.index % 4], radius: 6.5, dash: [8, 3] };
    const own = colour.runs[other.index % 4];
    found.push({ name: `run${other.index}`, columns: other.values, colour: own, ...look });
  }
  if (isShown('front') && model.knownFront) {
    const look = { colour: colour.front, shape: 'circle', radius: 7.5, dash: [4, 4] };
    found.push({ name: 'front', columns: model.knownFront.columns, ...look });
  }
  return found;
}
