// The document as the page uses it: columns of values as a person thinks of them, and their scales.

const PADDING = 0.04; // of an axis' range, on both sides
const roundNumber = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const fineNumber = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });

export function formatNumber(value) {
  if (!Number.isFinite(value)) return '–';
  const text = (Math.abs(value) >= 1000 ? roundNumber : fineNumber).format(value);
  return text === '-0' ? '0' : text.replace('-', '−');
}

export function formatMargin([low, high]) {
  // Half an interval; an error is known to two digits at best.
  return formatNumber(Number(((high - low) / 2).toPrecision(2)));
}

export function createModel(content) {
  const objectives = content.objectives.map((objective, index) => ({
    ...objective,
    index,
    sign: objective.direction === 'minimise' ? -1 : 1,
    unit: objective.unit || '',
  }));
  const columnsOf = (rows) =>
    objectives.map(({ sign, index }) => Float64Array.from(rows, (row) => sign * row[index]));
  const runs = content.runs.map((run, index) => createRun(run, index, objectives, columnsOf));
  const knownFront = content.known_front && {
    ...content.known_front,
    columns: columnsOf(content.known_front.returns),
  };
  const model = { ...content, objectives, runs, knownFront };
  objectives.forEach((objective) => Object.assign(objective, axisOf(objective, model)));
  model.policyNamed = (name) => {
    const [run, policy] = String(name ?? '')
      .split('.')
      .map(Number);
    const found = runs[run];
    return found && policy >= 0 && policy < found.size && Number.isInteger(policy)
      ? { run: found, policy }
      : null;
  };
  return model;
}

function createRun(content, index, objectives, columnsOf) {
  const { policies } = content;
  const values = columnsOf(policies.executed);
  const size = policies.executed.length;
  const onFront = policies.on_front ?? new Array(size).fill(true);
  const all = [...onFront.keys()];
  const front = all.filter((policy) => onFront[policy]);
  const extreme = ({ index: column, sign }, among, best) => {
    const signed = among.map((policy) => sign * values[column][policy]);
    const further = best ? Math.max : Math.min;
    return sign * signed.reduce((a, b) => further(a, b), best ? -Infinity : Infinity);
  };
  const bounds = (pairs, column, policy) => {
    // Two raw numbers of a policy as shown, the smaller one first; null where they are equal.
    const [low, high] = pairs ? pairs[policy][column] : [0, 0];
    if (low === high) return null;
    return objectives[column].sign > 0 ? [low, high] : [-high, -low];
  };
  return {
    ...content,
    index,
    size,
    values,
    onFront,
    requested:
      policies.requested && content.takes_commands !== false ? columnsOf(policies.requested) : null,
    archiveColumns: columnsOf(content.archive ?? []),
    archiveSize: (content.archive ?? []).length,
    ideal: objectives.map((objective) => extreme(objective, front, true)),
    nadir: objectives.map((objective) => extreme(objective, front, false)),
    worst: objectives.map((objective) => extreme(objective, all, false)),
    interval: (column, policy) => bounds(policies.interval, column, policy),
    quantiles: (column, policy) => bounds(policies.quantiles, column, policy),
    intervalEnds: (column) =>
      all.flatMap((policy) => bounds(policies.interval, column, policy) ?? []),
  };
}

function axisOf({ index, sign }, model) {
  let low = Infinity;
  let high = -Infinity;
  const columns = model.runs.flatMap((run) => [run.values[index], run.archiveColumns[index]]);
  columns.push(...model.runs.map((run) => run.intervalEnds(index)));
  if (model.knownFront) columns.push(model.knownFront.columns[index]);
  for (const column of columns) {
    for (const value of column) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) [low, high] = [0, 1];
  const span = high - low || Math.abs(high) || 1;
  const [bottom, top] = [low - PADDING * span, high + PADDING * span];
  return { low, high, span, worst: sign > 0 ? bottom : top, bestEnd: sign > 0 ? top : bottom };
}

export function fraction(objective, value, flipped = []) {
  // Where a value lies on its axis: 0 at the worst end and 1 at the best, unless it is flipped.
  const share = (value - objective.worst) / (objective.bestEnd - objective.worst);
  return flipped.includes(objective.index) ? 1 - share : share;
}

export function valueAt(objective, share, flipped = []) {
  const unflipped = flipped.includes(objective.index) ? 1 - share : share;
  return objective.worst + unflipped * (objective.bestEnd - objective.worst);
}

export function ticks(objective, count) {
  const found = ticksFor(objective, count);
  return found.length > 1 ? found : ticksFor(objective, 2 * count); // one number is no scale
}

function ticksFor(objective, count) {
  const rough = objective.span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const first = Math.ceil(objective.low / step - 1e-9);
  const found = [];
  for (let k = first; k * step <= objective.high + 1e-9 * objective.span; k += 1) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

export function roundedLimit(objective, value) {
  // Three digits of the range are as fine as a pointer can be.
  const digits = Math.max(0, 2 - Math.floor(Math.log10(objective.span)));
  return Number(value.toFixed(Math.min(digits, 12)));
}

export function reachesRequest(model, run, policy) {
  // Whether what was requested came out, as far as the error of the mean tells.
  return model.objectives.every((objective) => {
    const asked = run.requested[objective.index][policy];
    const interval = run.interval(objective.index, policy);
    if (interval && interval[0] <= asked && asked <= interval[1]) return true;
    return Math.abs(asked - run.values[objective.index][policy]) <= 1e-3 * objective.span;
  });
}

export function withUnit(objective, value) {
  const text = formatNumber(value);
  return objective.unit ? `${text} ${unitFor(objective.unit, value)}` : text;
}

export function unitFor(unit, value) {
  // Short ones such as ms and fps are abbreviations, and celsius is no plural.
  const isPlural = /[a-z]{3}s$/.test(unit) && !/(ss|us)$/.test(unit);
  return Math.abs(value) === 1 && isPlural ? unit.slice(0, -1) : unit;
}

export function isWithin(objective, value, limit) {
  return limit === null || objective.sign * value >= objective.sign * limit - 1e-9 * objective.span;
}

export function remainingMask(model, run, limits) {
  const mask = new Uint8Array(run.size).fill(1);
  let count = run.size;
  model.objectives.forEach((objective) => {
    const limit = limits[objective.index];
    if (limit === null) return;
    const column = run.values[objective.index];
    for (let policy = 0; policy < run.size; policy += 1) {
      if (mask[policy] && !isWithin(objective, column[policy], limit)) {
        mask[policy] = 0;
        count -= 1;
      }
    }
  });
  return { mask, count };
}

export function policyLines(model, run, policy) {
  return model.objectives.map((objective) => {
    const value = run.values[objective.index][policy];
    const interval = run.interval(objective.index, policy);
    const range = interval
      ? ` (95 %: ${formatNumber(interval[0])} to ${formatNumber(interval[1])})`
      : '';
    return `${objective.name} ${withUnit(objective, value)}${range}`;
  });
}
