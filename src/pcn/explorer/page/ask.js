// Ask for a return that no policy stands for: the network is conditioned on it and executed.

import { make } from './dom.js';
import { withUnit } from './data.js';
import { askedRollout, isLive } from './source.js';
import { changes, tradeInWords, valuesOf } from './words.js';

export function createAsk(host, { store, scene, pick }) {
  const { model } = scene;
  const answer = make('div', { class: 'ask-answer', role: 'status' });
  const fields = model.objectives.map((objective) =>
    make('input', {
      type: 'number',
      step: 'any',
      required: true,
      id: `ask-${objective.index}`,
    }),
  );
  const horizon = make('input', {
    type: 'number',
    step: 'any',
    min: 1,
    required: true,
    id: 'ask-horizon',
  });
  const submit = make('button', { type: 'submit', class: 'primary', text: 'Ask' });
  const form = make(
    'form',
    {
      class: 'ask-form',
      onsubmit: (event) => {
        event.preventDefault();
        store.set({ ask: [...fields, horizon].map((field) => Number(field.value)), step: 0 });
      },
    },
    ...model.objectives.map((objective, index) =>
      make(
        'div',
        { class: 'field' },
        make('label', {
          for: `ask-${index}`,
          text: `${objective.name}${objective.unit ? ` (${objective.unit})` : ''}`,
        }),
        fields[index],
      ),
    ),
    make(
      'div',
      { class: 'field' },
      make('label', { for: 'ask-horizon', text: 'within steps' }),
      horizon,
    ),
    submit,
  );
  const invitation = make('p', {
    class: 'hint',
    text: 'Enter a return that no policy has. The network tries to reach it in one episode, and the page shows the result.',
  });
  host.append(make('h2', { text: 'Ask for a return' }), invitation, form, answer);

  function allow() {
    const { can_ask: canAsk = scene.run.can_watch } = scene.run;
    const isPossible = isLive() && canAsk;
    form.hidden = !isPossible;
    invitation.hidden = !isPossible;
    if (isPossible) return true;
    const why = isLive()
      ? (scene.run.why_no_ask ?? scene.run.why_not)
      : 'Asking needs the live page: open the run with pcn explore.';
    answer.replaceChildren(
      make('p', { class: 'hint', text: why ?? 'This run cannot be executed.' }),
    );
    return false;
  }

  function suggestFields() {
    // The picked policy, or the middle of the ranges, is where a wish begins.
    const { run } = scene;
    const picked = model.policyNamed(store.state.pick);
    model.objectives.forEach((objective) => {
      const middle = (run.ideal[objective.index] + run.nadir[objective.index]) / 2;
      const value = picked ? picked.run.values[objective.index][picked.policy] : middle;
      fields[objective.index].value = Number.isFinite(value) ? Number(value.toPrecision(5)) : '';
    });
    const horizons = (picked?.run ?? run).policies.horizons ?? [];
    const usual = picked ? horizons[picked.policy] : horizons[Math.floor(horizons.length / 2)];
    horizon.value = Number.isFinite(usual)
      ? Number(usual.toPrecision(5))
      : model.environment.step_limit;
  }

  function explain(rollout, asked) {
    const { run } = scene;
    const returned = model.objectives.map(({ sign, index }) => sign * rollout.returned[index]);
    const listed = (values) =>
      model.objectives
        .map((objective) => `${objective.name} ${withUnit(objective, values[objective.index])}`)
        .join(', ');
    const { gains, losses } = changes(model, asked, returned);
    const distance = Math.max(...rollout.off.map(Math.abs));
    const off =
      gains.length + losses.length === 0
        ? 'That is exactly what you asked for.'
        : `Compared with your request: ${tradeInWords(model, asked, returned)} (${Math.max(1, Math.round(100 * distance))} % of the range away).`;
    const parts = [
      make(
        'p',
        {},
        'You asked for ',
        make('strong', { text: listed(asked) }),
        ' and got ',
        make('strong', { text: listed(returned) }),
        '.',
      ),
      make('p', { text: off }),
    ];
    if (rollout.stopped) parts.push(make('p', { text: `It was stopped ${rollout.stopped}.` }));
    if (rollout.nearest) {
      const { policy } = rollout.nearest;
      const difference = tradeInWords(model, returned, valuesOf(run, policy));
      const text =
        difference === 'the same'
          ? 'returns the same'
          : `compared with what came out: ${difference}`;
      parts.push(
        make(
          'p',
          {},
          'The nearest policy of the front is ',
          make('button', {
            type: 'button',
            class: 'link',
            text: `policy ${policy}`,
            onclick: () => pick(policy),
          }),
          ` (${text}).`,
        ),
      );
    }
    answer.replaceChildren(...parts);
  }

  async function execute(ask) {
    const raw = model.objectives.map(({ sign, index }) => sign * ask[index]);
    submit.disabled = true;
    answer.replaceChildren(make('p', { class: 'hint', text: 'Executing…' }));
    try {
      const rollout = await askedRollout(store.state.run, raw, ask[ask.length - 1]);
      if (store.state.ask === ask) explain(rollout, ask);
    } catch (error) {
      if (store.state.ask === ask)
        answer.replaceChildren(make('p', { class: 'error', text: error.message }));
    }
    if (store.state.ask === ask || !store.state.ask) submit.disabled = false;
  }

  return {
    update: (changed) => {
      const { ask } = store.state;
      if ((changed.has('pick') && !ask) || (changed.has('run') && !ask)) suggestFields();
      if (!changed.has('ask') && !changed.has('run')) return;
      if (!allow()) return;
      if (!ask) {
        answer.replaceChildren();
        suggestFields();
        return;
      }
      [...fields, horizon].forEach((field, index) => {
        field.value = String(ask[index]);
      });
      execute(ask);
    },
  };
}
