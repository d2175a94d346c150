// What can be saved: a policy's folder, numbers, a picture, the address of the view.

import { announce, make } from './dom.js';
import { exportedPolicy, isLive } from './source.js';
import { palette } from './surface.js';

export function save(blob, name) {
  const link = make('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function policyRecords(model, run, policies) {
  // Values as a person thinks of them: a quantity to minimise is not negated.
  return policies.map((policy) => {
    const columns = (source) =>
      Object.fromEntries(model.objectives.map(({ name, index }) => [name, source[index][policy]]));
    const margins = model.objectives.map(({ name, index }) => {
      const [low, high] = run.interval(index, policy) ?? [0, 0];
      return [name, Number(((high - low) / 2).toPrecision(7))];
    });
    return {
      run: run.name,
      policy,
      executed: columns(run.values),
      // Half the width of the 95 % interval of each mean.
      margin: run.policies.interval ? Object.fromEntries(margins) : null,
      executions: run.policies.executions?.[policy] ?? null,
      requested: run.requested ? columns(run.requested) : null,
      horizon: run.policies.horizons?.[policy] ?? null,
      on_front: Boolean(run.onFront[policy]),
    };
  });
}

export function asCsv(model, records) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${String(text).replaceAll('"', '""')}"` : text);
  const names = model.objectives.map(({ name }) => name);
  const withUnits = model.objectives.map(({ name, unit }) => (unit ? `${name} (${unit})` : name));
  // Where every policy was executed once, there is nothing to say about the error of means.
  const isRepeated = records.some(({ margin }) => margin);
  const ifRepeated = (cells) => (isRepeated ? cells : []);
  const rows = [
    [
      'run',
      'policy',
      ...withUnits,
      ...ifRepeated([...withUnits.map((name) => `95 % margin of ${name}`), 'executions']),
      ...withUnits.map((name) => `requested ${name}`),
      'horizon',
      'on front',
    ],
    ...records.map((record) => [
      record.run,
      record.policy,
      ...names.map((name) => record.executed[name]),
      ...ifRepeated([...names.map((name) => record.margin?.[name] ?? ''), record.executions ?? '']),
      ...names.map((name) => record.requested?.[name] ?? ''),
      record.horizon ?? '',
      record.on_front ? 1 : 0,
    ]),
  ];
  return `${rows.map((row) => row.map((cell) => quoted(cell)).join(',')).join('\n')}\n`;
}

export function saveChart(canvases, title, name) {
  // The layers of a chart on the colour of the page, with a title above.
  const ratio = window.devicePixelRatio || 1;
  const margin = Math.round(16 * ratio);
  const head = Math.round(36 * ratio);
  const picture = make('canvas', {
    width: canvases[0].width + 2 * margin,
    height: canvases[0].height + head + margin,
  });
  const context = picture.getContext('2d');
  context.fillStyle = palette().card;
  context.fillRect(0, 0, picture.width, picture.height);
  context.fillStyle = palette().ink;
  context.font = `600 ${Math.round(15 * ratio)}px system-ui, sans-serif`;
  context.textBaseline = 'middle';
  context.fillText(title, margin, head / 2 + 2 * ratio);
  canvases.forEach((canvas) => context.drawImage(canvas, margin, head));
  picture.toBlob((blob) => save(blob, name), 'image/png');
}

export function createTakeaway(host, { store, scene }) {
  const { model } = scene;
  const status = make('p', { class: 'hint', role: 'status' });
  const button = (text, action) =>
    make('button', { type: 'button', class: 'quiet-button', text, onclick: action });
  const fileName = (policy) =>
    `${model.environment.name}${policy === null ? '' : `-policy-${policy}`}`;
  const picked = () => model.policyNamed(store.state.pick);

  function saveNumbers(run, policies, policy, format) {
    const records = policyRecords(model, run, policies);
    const text = format === 'csv' ? asCsv(model, records) : `${JSON.stringify(records, null, 2)}\n`;
    const type = format === 'csv' ? 'text/csv' : 'application/json';
    save(new Blob([text], { type }), `${fileName(policy)}.${format}`);
  }

  async function saveFolder() {
    const { run, policy } = picked();
    status.textContent = 'Packing the folder…';
    try {
      save(await exportedPolicy(run.index, policy), `${fileName(policy)}.zip`);
      status.textContent = 'Unpack it; pcn play and pcn.load open the folder.';
    } catch (error) {
      status.textContent = error.message;
    }
  }

  const savePicked = (format) => () =>
    saveNumbers(picked().run, [picked().policy], picked().policy, format);
  const saveRemaining = (format) => () => {
    const policies = Array.from(scene.mask.keys()).filter((policy) => scene.mask[policy]);
    saveNumbers(scene.run, policies, null, format);
  };
  const folder = button('Folder (.zip)', saveFolder);
  const ofPicked = [folder, button('CSV', savePicked('csv')), button('JSON', savePicked('json'))];
  host.append(
    make('h2', { text: 'Save' }),
    make('div', { class: 'take-row' }, make('span', { text: 'The picked policy' }), ...ofPicked),
    make(
      'div',
      { class: 'take-row' },
      make('span', { text: 'All remaining policies' }),
      button('CSV', saveRemaining('csv')),
      button('JSON', saveRemaining('json')),
    ),
    make(
      'div',
      { class: 'take-row' },
      make('span', { text: 'This view' }),
      button('Copy address', async () => {
        const address = store.address();
        try {
          await navigator.clipboard.writeText(address);
          status.textContent = 'Copied. The address holds limits, picks, pins and views.';
        } catch {
          status.textContent = address;
        }
        announce(status.textContent);
      }),
    ),
    status,
  );
  if (!isLive()) folder.title = 'Needs the live page: open the run with pcn explore';
  return {
    update: (changed) => {
      if (!changed.has('pick')) return;
      ofPicked.forEach((each) => {
        each.disabled = !picked();
      });
      folder.disabled = !picked() || !isLive();
    },
  };
}
