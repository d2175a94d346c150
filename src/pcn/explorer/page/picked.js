// The picked policy: its values, what was requested, its neighbours in words, and suggestions.

import { choice, make } from './dom.js';
import { formatMargin, formatNumber, unitFor } from './data.js';
import { PIN_LETTERS } from './surface.js';
import { fidelityInWords, neighbours, priceInWords } from './words.js';

export function createPicked(host, { store, scene, pick, togglePin }) {
  const { model } = scene;
  const title = make('h2', { text: 'Pick a policy' });
  const pin = make('button', {
    type: 'button',
    class: 'pill',
    onclick: () => togglePin(store.state.pick),
  });
  const watch = make('button', {
    type: 'button',
    class: 'pill',
    text: 'Watch',
    onclick: () => document.getElementById('watch').scrollIntoView({ behavior: 'smooth' }),
  });
  const content = make('div', { class: 'picked-content' });
  const suggestions = make('div', { class: 'suggestions' });
  host.append(
    make('div', { class: 'title-row' }, title, make('div', { class: 'pills' }, watch, pin)),
    content,
    make('h3', { text: 'Suggestions' }),
    suggestions,
  );
  const amounts = { objective: 0, amount: null };

  function valueList(run, policy) {
    const list = make('dl', { class: 'values' });
    for (const objective of model.objectives) {
      const value = run.values[objective.index][policy];
      const interval = run.interval(objective.index, policy);
      const requested = run.requested ? run.requested[objective.index][policy] : null;
      const isMissed = requested !== null && Math.abs(requested - value) > 1e-3 * objective.span;
      const notes = [];
      if (interval) notes.push(`± ${formatMargin(interval)} (95 %)`);
      const quantiles = run.quantiles(objective.index, policy);
      if (quantiles) {
        const [low, high] = quantiles.map(formatNumber);
        notes.push(`8 of 10 episodes: ${low} to ${high}`);
      }
      if (isMissed) notes.push(`requested ${formatNumber(requested)}`);
      list.append(
        make(
          'div',
          {},
          make('dt', { text: objective.name }),
          make(
            'dd',
            {},
            make('span', { class: 'number', text: formatNumber(value) }),
            objective.unit
              ? make('span', { class: 'unit', text: ` ${unitFor(objective.unit, value)}` })
              : null,
            notes.length ? make('small', { text: notes.join(' · ') }) : null,
          ),
        ),
      );
    }
    return list;
  }

  function tradeList(run, policy) {
    const list = make('ul', { class: 'trades' });
    for (const trade of neighbours(model, run, policy)) {
      list.append(
        make(
          'li',
          {},
          make(
            'button',
            {
              type: 'button',
              class: 'trade',
              onclick: () => pick(trade.policy),
              title: `Pick policy ${trade.policy}`,
            },
            make('span', { text: trade.text }),
            make('span', { class: 'go', text: `policy ${trade.policy} →` }),
          ),
        ),
      );
    }
    if (!list.children.length)
      list.append(make('li', { text: 'It is the best in every objective.' }));
    return list;
  }

  function priceForm(run, policy) {
    const objective = model.objectives[amounts.objective];
    const isWhole = run.values[objective.index].every(Number.isInteger);
    const tenth = Number((objective.span / 10).toPrecision(1));
    const usual = isWhole ? Math.max(1, Math.round(tenth)) : tenth;
    const amount = amounts.amount ?? (objective.span >= 20 ? 10 : usual);
    const answer = make('p', { class: 'answer', role: 'status' });
    const input = make('input', {
      type: 'number',
      min: 0,
      step: 'any',
      value: amount,
      'aria-label': 'How much better',
      oninput: () => {
        amounts.amount = Number(input.value);
        tell();
      },
    });
    const select = choice(
      'Which objective',
      model.objectives.map(({ name, index }) => ({ value: index, text: name })),
      amounts.objective,
      (value) => {
        amounts.objective = Number(value);
        amounts.amount = null;
        update(new Set(['pick']));
      },
    );
    const tell = () => {
      const price = priceInWords(model, run, policy, objective, Number(input.value));
      answer.replaceChildren(
        price.policy === null
          ? price.text
          : make(
              'button',
              {
                type: 'button',
                class: 'trade',
                onclick: () => pick(price.policy),
              },
              make('span', { text: price.text }),
              make('span', { class: 'go', text: `policy ${price.policy} →` }),
            ),
      );
    };
    tell();
    const more = objective.sign > 0 ? 'more' : 'less';
    return make(
      'div',
      { class: 'price' },
      make(
        'div',
        { class: 'sentence' },
        'What does it cost to get ',
        input,
        ` ${more} `,
        make('span', { class: 'together' }, select, ' ?'),
      ),
      answer,
    );
  }

  function fillSuggestions() {
    const own = model.suggestions.filter(({ run }) => run === scene.run.index);
    suggestions.replaceChildren(
      ...own.map((suggestion) =>
        make(
          'button',
          {
            type: 'button',
            class: 'suggestion',
            onclick: () => pick(suggestion.policy),
          },
          make('strong', {
            text: `${suggestion.kind === 'knee' ? 'Knee' : 'Balanced'}: policy ${suggestion.policy}`,
          }),
          make('span', { text: suggestion.why }),
        ),
      ),
    );
    const missing = own.length === 0 ? 'There is none for this run.' : null;
    const note = (scene.run.index === 0 ? model.no_knee : null) ?? missing;
    if (note) suggestions.append(make('p', { class: 'hint', text: note }));
  }

  function update(changed) {
    if (!['pick', 'pins', 'run'].some((key) => changed.has(key))) return;
    if (changed.has('run')) fillSuggestions();
    const picked = model.policyNamed(store.state.pick);
    pin.hidden = !picked;
    watch.hidden = !picked || !picked.run.can_watch;
    if (!picked) {
      title.textContent = 'Pick a policy';
      content.replaceChildren(
        make('p', {
          class: 'hint',
          text: 'Click a point, a line or a row; or begin with a suggestion.',
        }),
      );
      return;
    }
    const { run, policy } = picked;
    const position = store.state.pins.indexOf(store.state.pick);
    title.textContent =
      model.runs.length > 1 ? `Policy ${policy} of ${run.name}` : `Policy ${policy}`;
    pin.textContent = position >= 0 ? `Pinned as ${PIN_LETTERS[position]}` : 'Pin';
    pin.setAttribute('aria-pressed', String(position >= 0));
    if (!changed.has('pick') && !changed.has('run')) return;
    content.replaceChildren(
      valueList(run, policy),
      make('p', { class: 'fidelity', text: fidelityInWords(model, run, policy) }),
      make('h3', { text: 'Nearest trade-offs' }),
      tradeList(run, policy),
      priceForm(run, policy),
    );
  }

  return { update };
}
