// One store for the state of the page; the part worth sharing is kept in the address.

export const MOST_PINS = 4;

const DISCRETE = ['run', 'pick', 'pins', 'views', 'axes', 'overlays', 'order', 'flipped'];
const WRITE_DELAY = 250; // milliseconds without a change before the address is written

export function createStore(model) {
  const listeners = [];
  let state = stateFromAddress(model);
  let changed = new Set();
  let frame = 0;
  let writing = 0;
  let entry = false;

  function set(patch) {
    const keys = Object.keys(patch).filter((key) => patch[key] !== state[key]);
    if (keys.length === 0) return;
    state = { ...state, ...patch };
    keys.forEach((key) => changed.add(key));
    if (keys.some((key) => key !== 'hover' && key !== 'playing')) {
      entry = entry || keys.some((key) => DISCRETE.includes(key));
      clearTimeout(writing);
      writing = setTimeout(write, WRITE_DELAY);
    }
    if (!frame) frame = requestAnimationFrame(tell);
  }

  function tell() {
    frame = 0;
    const keys = changed;
    changed = new Set();
    listeners.forEach((listener) => listener(state, keys));
  }

  function write() {
    const address = `#${addressOf(model, state)}`;
    if (address === window.location.hash) return;
    if (entry) window.history.pushState(null, '', address);
    else window.history.replaceState(null, '', address);
    entry = false;
  }

  function read() {
    clearTimeout(writing);
    entry = false;
    const fresh = stateFromAddress(model);
    const keys = Object.keys(fresh).filter(
      (key) => JSON.stringify(fresh[key]) !== JSON.stringify(state[key]),
    );
    if (keys.length === 0) return;
    state = { ...state, ...fresh };
    keys.forEach((key) => changed.add(key));
    if (!frame) frame = requestAnimationFrame(tell);
  }

  window.addEventListener('popstate', read);
  return {
    get state() {
      return state;
    },
    set,
    subscribe: (listener) => listeners.push(listener),
    address: () => {
      clearTimeout(writing);
      write();
      return window.location.href;
    },
  };
}

export function initialState(model) {
  const count = model.objectives.length;
  const axes = [0, 1, 2].map((axis) => Math.min(axis, count - 1));
  if (count > 1 && model.objectives[1].sign > 0 && model.objectives[0].sign < 0) {
    [axes[0], axes[1]] = [1, 0];
  }
  const chart = count === 2 ? ['scatter'] : count === 3 ? ['scatter3d', 'parallel'] : ['parallel'];
  return {
    run: 0,
    pick: null,
    pins: [],
    limits: new Array(count).fill(null),
    views: [...chart, 'table'],
    axes: count === 2 ? [axes[1], axes[0], axes[2]] : axes,
    // A front that is only claimed may be wrong, so it is shown on request.
    overlays: model.knownFront && model.knownFront.status !== 'claimed' ? ['front'] : [],
    order: model.objectives.map((_, index) => index),
    flipped: [],
    sort: null,
    ask: null,
    step: 0,
    hover: null,
    playing: false,
  };
}

export function addressOf(model, state) {
  const usual = initialState(model);
  const parts = [];
  const put = (name, value, unless) => {
    if (value !== unless && value !== '') parts.push(`${name}=${encodeURIComponent(value)}`);
  };
  const limits = state.limits
    .map((limit, index) => (limit === null ? null : `${index}:${limit}`))
    .filter((part) => part !== null);
  put('run', String(state.run), '0');
  put('pick', state.pick ?? '', '');
  put('pins', state.pins.join('_'), '');
  put('limits', limits.join('_'), '');
  put('views', state.views.join('_'), usual.views.join('_'));
  put('axes', state.axes.join('_'), usual.axes.join('_'));
  put('overlays', state.overlays.join('_') || 'none', usual.overlays.join('_') || 'none');
  put('order', state.order.join('_'), usual.order.join('_'));
  put('flipped', state.flipped.join('_'), '');
  put('sort', state.sort ?? '', '');
  put('ask', state.ask ? state.ask.join('_') : '', '');
  put('step', String(state.step), '0');
  return parts.join('&');
}

export function stateFromAddress(model) {
  // What an address names and the document does not have is left out.
  const given = new URLSearchParams(window.location.hash.slice(1));
  const state = initialState(model);
  const count = model.objectives.length;
  const list = (name) => (given.get(name) ?? '').split('_').filter((part) => part !== '');
  const isObjective = (index) => Number.isInteger(index) && index >= 0 && index < count;
  const run = Number(given.get('run'));
  if (model.runs[run]) state.run = run;
  if (model.policyNamed(given.get('pick'))) state.pick = given.get('pick');
  const pins = list('pins').filter((name) => model.policyNamed(name));
  state.pins = [...new Set(pins)].slice(0, MOST_PINS);
  for (const part of list('limits')) {
    const [index, limit] = part.split(':').map(Number);
    if (isObjective(index) && Number.isFinite(limit)) state.limits[index] = limit;
  }
  if (given.has('views')) state.views = list('views').filter((name) => /^[a-z0-9]+$/.test(name));
  const axes = list('axes').map(Number);
  if (axes.length === 3 && axes.every(isObjective)) state.axes = axes;
  if (given.has('overlays')) state.overlays = list('overlays').filter((name) => name !== 'none');
  const order = list('order').map(Number);
  if (order.length === count && new Set(order.filter(isObjective)).size === count) {
    state.order = order;
  }
  state.flipped = list('flipped').map(Number).filter(isObjective);
  if (/^-?\d+$/.test(given.get('sort') ?? '')) state.sort = given.get('sort');
  const ask = list('ask').map(Number);
  if (ask.length === count + 1 && ask.every(Number.isFinite)) state.ask = ask;
  const step = Number(given.get('step'));
  if (Number.isInteger(step) && step > 0) state.step = step;
  return state;
}
