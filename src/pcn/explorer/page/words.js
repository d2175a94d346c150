// Trade-offs in words: what a neighbour of a policy gains, and what it costs.

import { formatNumber, reachesRequest, unitFor } from './data.js';

const MOST_PARTS = 2; // objectives named in a sentence; the rest is counted
const MOST_NEIGHBOURS = 4;

export function amountInWords(model, objective, amount, isGain) {
  // "+12 treasure", "12 less treasure", "2 fewer steps", "1 more step", "3 kg less ore".
  const size = Math.abs(amount);
  const shared = model.objectives.filter((other) => other.unit && other.unit === objective.unit);
  const unit = objective.unit ? unitFor(objective.unit, size) : '';
  const isCounted = /[a-z]{2}s$/.test(objective.unit); // steps and cars, not seconds as "s"
  let thing = objective.name;
  if (isCounted) thing = shared.length > 1 ? `${unit} of ${objective.name}` : unit;
  const number = unit && !isCounted ? `${formatNumber(size)} ${unit}` : formatNumber(size);
  if (objective.sign > 0 && isGain) return `+${number} ${thing}`;
  const isMore = objective.sign > 0 === isGain;
  const word = isMore ? 'more' : isCounted ? 'fewer' : 'less';
  return `${number} ${word} ${thing}`;
}

export function changes(model, from, to) {
  // Gains and losses from one vector of shown values to another, the largest share first.
  const parts = model.objectives
    .map((objective) => {
      const amount = to[objective.index] - from[objective.index];
      return { objective, amount, share: (objective.sign * amount) / objective.span };
    })
    .filter(({ share }) => Math.abs(share) > 1e-6)
    .sort((one, other) => Math.abs(other.share) - Math.abs(one.share));
  return {
    gains: parts.filter(({ share }) => share > 0),
    losses: parts.filter(({ share }) => share < 0),
  };
}

function listInWords(model, parts, isGain) {
  const named = parts
    .slice(0, MOST_PARTS)
    .map(({ objective, amount }) => amountInWords(model, objective, amount, isGain));
  const rest = parts.length - named.length;
  if (rest > 0)
    named.push(
      `${rest} smaller ${isGain ? 'gain' : 'loss'}${rest === 1 ? '' : isGain ? 's' : 'es'}`,
    );
  if (named.length < 2) return named.join('');
  return `${named.slice(0, -1).join(', ')} and ${named[named.length - 1]}`;
}

export function tradeInWords(model, from, to) {
  const { gains, losses } = changes(model, from, to);
  if (gains.length === 0 && losses.length === 0) return 'the same';
  if (gains.length === 0) return `${listInWords(model, losses, false)}, for nothing`;
  if (losses.length === 0) return `${listInWords(model, gains, true)} at no cost`;
  return `${listInWords(model, gains, true)} for ${listInWords(model, losses, false)}`;
}

export function valuesOf(run, policy) {
  return run.values.map((column) => column[policy]);
}

export function neighbours(model, run, policy) {
  // For each objective the nearest policy on the front that is better in it.
  const from = valuesOf(run, policy);
  const found = [];
  for (const objective of model.objectives) {
    const best = cheapest(model, run, policy, objective, 0, distanceBetween);
    if (best !== null && !found.some((trade) => trade.policy === best)) {
      found.push({ objective, policy: best, text: tradeInWords(model, from, valuesOf(run, best)) });
    }
  }
  return found.slice(0, MOST_NEIGHBOURS);
}

function distanceBetween({ gains, losses }) {
  return Math.hypot(...[...gains, ...losses].map(({ share }) => share));
}

function lossOf({ losses }) {
  return losses.reduce((sum, { share }) => sum - share, 0);
}

function cheapest(model, run, policy, objective, amount, cost) {
  const from = valuesOf(run, policy);
  let found = null;
  let least = Infinity;
  for (let other = 0; other < run.size; other += 1) {
    if (other === policy || !run.onFront[other]) continue;
    const gain = objective.sign * (run.values[objective.index][other] - from[objective.index]);
    if (gain < amount - 1e-9 * objective.span || gain <= 1e-6 * objective.span) continue;
    const price = cost(changes(model, from, valuesOf(run, other)));
    if (price < least) {
      least = price;
      found = other;
    }
  }
  return found;
}

export function priceInWords(model, run, policy, objective, amount) {
  // What it costs to get that much more of one objective, by the policy that gives up least.
  const found = cheapest(model, run, policy, objective, amount, lossOf);
  if (found === null) {
    const wanted = amountInWords(model, objective, amount, true);
    return { policy: null, text: `No policy on the front offers ${wanted}.` };
  }
  return { policy: found, text: tradeInWords(model, valuesOf(run, policy), valuesOf(run, found)) };
}

export function fidelityInWords(model, run, policy) {
  // Requested against executed return of one policy.
  if (run.not_executed) return run.not_executed;
  if (!run.requested || run.takes_commands === false)
    return `Policies of ${run.algorithm.toUpperCase()} take no request: this is what it returns.`;
  const requested = run.requested.map((column) => column[policy]);
  const { gains, losses } = changes(model, requested, valuesOf(run, policy));
  const isSmall = ({ share }) => Math.abs(share) < 1e-3;
  if ([...gains, ...losses].every(isSmall)) return 'Returns what was requested.';
  if (reachesRequest(model, run, policy)) return 'Returns what was requested, within its interval.';
  const parts = [];
  if (losses.length) parts.push(`${listInWords(model, losses, false)} than requested`);
  if (gains.length) parts.push(`${listInWords(model, gains, true)} beyond the request`);
  return `Returns ${parts.join(' and ')}.`;
}
