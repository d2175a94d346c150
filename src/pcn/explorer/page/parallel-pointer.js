// The pointer over parallel coordinates: limits along axes, titles that move axes, lines to pick.

import { hideTooltip } from './dom.js';
import { roundedLimit, valueAt } from './data.js';
import { INSET } from './parallel-axes.js';
import { endHover, hoverPolicy } from './pointing.js';
import { pointerAt } from './surface.js';

const GRIP = 16; // pixels around an axis within which a drag moves its limit
const REORDER_HEIGHT = 38; // the titles' zone: a drag there moves the axis

export function listenToPointer(geometry, { store, scene, pick }) {
  const { surface, axes, axisX, axisUnder, nearest } = geometry;
  let drag = null;

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
}
