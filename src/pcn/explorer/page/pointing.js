// Pointing at policies: which one is nearest to the pointer, and what is told about it.

import { hideTooltip, showTooltip } from './dom.js';
import { policyLines } from './data.js';

const EXCLUDED_PENALTY = 30; // square pixels: near an excluded point, a remaining one comes first

export function nearestPolicy({ run, mask }, placeOf, [x, y], reach) {
  let found = null;
  let closest = reach * reach;
  for (let policy = 0; policy < run.size; policy += 1) {
    const [pointX, pointY] = placeOf(policy);
    const square = (pointX - x) ** 2 + (pointY - y) ** 2;
    const distance = square + (mask[policy] ? 0 : EXCLUDED_PENALTY);
    if (distance < closest) {
      closest = distance;
      found = policy;
    }
  }
  return found;
}

export function hoverPolicy(event, policy, { store, scene }) {
  store.set({ hover: policy });
  if (policy === null) hideTooltip();
  else showTooltip(event, `Policy ${policy}`, policyLines(scene.model, scene.run, policy));
}

export function endHover(store) {
  hideTooltip();
  store.set({ hover: null });
}
