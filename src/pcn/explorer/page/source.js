// Where the page gets its data: from the file it is part of, or from the server that sent it.

const token = new URLSearchParams(window.location.search).get('token') ?? '';
const BUSY = 429;
const RETRY_DELAY = 500; // milliseconds
const MOST_TRIES = 200; // longer than a rollout of another page can take

let embeddedRollouts = null;
let queue = Promise.resolve();
const rollouts = new Map();

function embedded(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
}

async function request(path, body) {
  const options = { headers: { 'X-Token': token } };
  if (body) {
    options.method = 'POST';
    options.headers['Content-Type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  for (let attempt = 1; ; attempt += 1) {
    let response;
    try {
      response = await fetch(path, options);
    } catch {
      throw new Error('The server does not answer. Is `pcn explore` still running?');
    }
    if (response.ok) return response;
    if (response.status !== BUSY || attempt === MOST_TRIES) {
      const answer = await response.json().catch(() => ({}));
      throw new Error(answer.error ?? `The server answered with status ${response.status}.`);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
  }
}

export async function loadDocument() {
  const inline = embedded('document');
  if (inline) {
    embeddedRollouts = embedded('rollouts') ?? {};
    return inline;
  }
  return (await request('api/document')).json();
}

export function isLive() {
  return embeddedRollouts === null;
}

export function rolloutOf(run, policy) {
  const name = `${run}/${policy}`;
  if (!isLive()) {
    if (embeddedRollouts[name]) return Promise.resolve(embeddedRollouts[name]);
    return Promise.reject(
      new Error(`This file holds no rollout of policy ${policy}; pcn explore executes any policy.`),
    );
  }
  return executed(name, { run, policy, seed: 0 });
}

export function askedRollout(run, desiredReturn, horizon) {
  const name = `${run}/${desiredReturn.join(',')}/${horizon}`;
  return executed(name, { run, desired_return: desiredReturn, horizon, seed: 0 });
}

function executed(name, body) {
  // The server executes one rollout at a time, so requests wait for each other here.
  if (!rollouts.has(name)) {
    const answer = queue.then(async () => (await request('api/rollout', body)).json());
    queue = answer.catch(() => null);
    rollouts.set(name, answer);
    answer.catch(() => rollouts.delete(name));
  }
  return rollouts.get(name);
}

export async function exportedPolicy(run, policy) {
  return (await request('api/export', { run, policy })).blob();
}
