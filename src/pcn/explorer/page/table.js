// All policies as a table: sortable, and only the rows in sight exist.

import { make } from './dom.js';
import { formatMargin, formatNumber, fraction, reachesRequest } from './data.js';
import { PIN_LETTERS } from './surface.js';

const ROW_HEIGHT = 36;
const SPARE_ROWS = 6; // rows beyond both ends of what is in sight

export function createTable(host, header, { store, scene, pick, togglePin }) {
  const { model } = scene;
  const body = make('tbody');
  const heads = model.objectives.map((objective) => {
    const unit = objective.unit ? ` (${objective.unit})` : '';
    const arrow = objective.sign > 0 ? '↑' : '↓';
    const button = make('button', {
      type: 'button',
      class: 'sort',
      text: `${objective.name}${unit} ${arrow}`,
      title: `Sort by ${objective.name}; ${objective.sign > 0 ? 'more' : 'less'} is better`,
      onclick: () => sortBy(objective.index + 1),
    });
    return make('th', { scope: 'col' }, button);
  });
  const idHead = make(
    'th',
    { scope: 'col' },
    make('button', {
      type: 'button',
      class: 'sort',
      text: 'Policy',
      onclick: () => sortBy(0),
    }),
  );
  const gapHead = make('th', { scope: 'col', class: 'requested', text: 'Requested' });
  const table = make(
    'table',
    { class: 'policies' },
    make('caption', { class: 'visually-hidden', text: 'All policies and their returns' }),
    make(
      'thead',
      {},
      make('tr', {}, idHead, ...heads, gapHead, make('th', { scope: 'col', text: 'Pin' })),
    ),
    body,
  );
  const scroller = make(
    'div',
    { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of policies' },
    table,
  );
  host.append(scroller);
  let order = [];

  function fitColumns() {
    // The column of requests is worth its room where a policy misses its own.
    const policies = Array.from({ length: scene.run.size }, (_, policy) => policy);
    const isKept = !scene.run.requested || policies.every(isAsRequested);
    table.classList.toggle('all-as-requested', isKept);
  }

  function sortBy(column) {
    // The first click puts the best on top, the second the worst, the third the policies' numbers.
    const { sort } = store.state;
    if (sort === String(column)) store.set({ sort: `-${column}` });
    else store.set({ sort: sort === `-${column}` ? null : String(column) });
  }

  function reorder() {
    const { sort } = store.state;
    order = Array.from({ length: scene.run.size }, (_, policy) => policy);
    if (sort !== null) {
      const column = Math.abs(Number(sort));
      const isReversed = sort.startsWith('-');
      const objective = model.objectives[column - 1];
      const key = objective
        ? (policy) => -objective.sign * scene.run.values[objective.index][policy]
        : (policy) => policy;
      order.sort((one, other) => (key(one) - key(other)) * (isReversed ? -1 : 1) || one - other);
    }
    [idHead, ...heads].forEach((head, column) => {
      const isSorted = sort !== null && Math.abs(Number(sort)) === column;
      if (!isSorted) {
        head.removeAttribute('aria-sort');
        delete head.dataset.first;
        return;
      }
      const isReversed = sort.startsWith('-');
      // The best of a maximised objective are its largest numbers.
      const isFalling = column > 0 && model.objectives[column - 1].sign > 0;
      head.setAttribute('aria-sort', isFalling === isReversed ? 'ascending' : 'descending');
      if (column > 0) head.dataset.first = isReversed ? 'worst' : 'best';
    });
  }

  function valueCell(objective, policy) {
    const value = scene.run.values[objective.index][policy];
    const interval = scene.run.interval(objective.index, policy);
    const margin = interval ? make('small', { text: ` ± ${formatMargin(interval)}` }) : null;
    const cell = make('td', { class: 'value' }, formatNumber(value), margin);
    cell.style.setProperty('--share', fraction(objective, value).toFixed(3));
    return cell;
  }

  const isAsRequested = (policy) => reachesRequest(model, scene.run, policy);

  function requestedText(policy) {
    // What was asked for where something else came out.
    const { run } = scene;
    if (!run.requested) return '';
    if (isAsRequested(policy)) return 'as requested';
    return model.objectives
      .map((objective) => formatNumber(run.requested[objective.index][policy]))
      .join(', ');
  }

  function rowOf(policy, position) {
    const name = `${scene.run.index}.${policy}`;
    const isPicked = store.state.pick === name;
    const pin = store.state.pins.indexOf(name);
    const row = make(
      'tr',
      {
        class:
          [
            scene.mask[policy] ? '' : 'excluded',
            isPicked ? 'picked' : '',
            store.state.hover === policy ? 'hovered' : '',
          ]
            .join(' ')
            .trim() || null,
        'aria-rowindex': position + 2,
        'data-policy': policy,
      },
      make(
        'th',
        { scope: 'row' },
        make('button', {
          type: 'button',
          class: 'pick',
          text: String(policy),
          'aria-pressed': String(isPicked),
          'aria-label': `Pick policy ${policy}${scene.mask[policy] ? '' : ', excluded by a limit'}`,
        }),
      ),
      ...model.objectives.map((objective) => valueCell(objective, policy)),
      make('td', { class: 'requested', text: requestedText(policy) }),
      make(
        'td',
        {},
        make('button', {
          type: 'button',
          class: `pin${pin >= 0 ? ` pin-${pin + 1}` : ''}`,
          'aria-pressed': String(pin >= 0),
          text: pin >= 0 ? PIN_LETTERS[pin] : '+',
          'aria-label': `Pin policy ${policy}`,
        }),
      ),
    );
    return row;
  }

  function fill() {
    const first = Math.max(0, Math.floor(scroller.scrollTop / ROW_HEIGHT) - SPARE_ROWS);
    const shown = Math.ceil((scroller.clientHeight || 400) / ROW_HEIGHT) + 2 * SPARE_ROWS;
    const last = Math.min(order.length, first + shown);
    const spacer = (rows) => {
      const row = make('tr', { class: 'spacer', 'aria-hidden': 'true' });
      row.style.height = `${rows * ROW_HEIGHT}px`;
      return row;
    };
    const focused = body.contains(document.activeElement)
      ? [
          document.activeElement.closest('tr').dataset.policy,
          document.activeElement.className.split(' ')[0],
        ]
      : null;
    body.replaceChildren(
      spacer(first),
      ...order.slice(first, last).map((policy, index) => rowOf(policy, first + index)),
      spacer(order.length - last),
    );
    table.setAttribute('aria-rowcount', order.length + 1);
    if (focused) {
      body
        .querySelector(`tr[data-policy="${focused[0]}"] button.${focused[1]}`)
        ?.focus({ preventScroll: true });
    }
  }

  function reveal() {
    const picked = model.policyNamed(store.state.pick);
    if (!picked || picked.run !== scene.run) return;
    const top = order.indexOf(picked.policy) * ROW_HEIGHT;
    if (
      top < scroller.scrollTop ||
      top > scroller.scrollTop + scroller.clientHeight - 2 * ROW_HEIGHT
    ) {
      scroller.scrollTop = Math.max(0, top - scroller.clientHeight / 3);
    }
  }

  body.addEventListener('click', (event) => {
    const row = event.target.closest('tr[data-policy]');
    if (!row) return;
    const policy = Number(row.dataset.policy);
    if (event.target.closest('button.pin')) togglePin(`${scene.run.index}.${policy}`);
    else pick(policy);
  });
  body.addEventListener('pointerover', (event) => {
    const row = event.target.closest('tr[data-policy]');
    store.set({ hover: row ? Number(row.dataset.policy) : null });
  });
  body.addEventListener('pointerleave', () => store.set({ hover: null }));
  scroller.addEventListener('scroll', () => requestAnimationFrame(fill));

  return {
    canvases: [],
    update: (changed) => {
      const rebuilding = ['run', 'sort', 'pick', 'pins', 'views'];
      if (!rebuilding.some((key) => changed.has(key))) {
        for (const row of body.querySelectorAll('tr[data-policy]')) {
          const policy = Number(row.dataset.policy);
          row.classList.toggle('hovered', policy === store.state.hover);
          row.classList.toggle('excluded', !scene.mask[policy]);
        }
        return;
      }
      if (['run', 'sort', 'views'].some((key) => changed.has(key))) reorder();
      if (changed.has('run')) fitColumns();
      if (changed.has('pick') || changed.has('views')) reveal();
      fill();
    },
  };
}
