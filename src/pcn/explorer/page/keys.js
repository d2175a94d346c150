// The keyboard: leaf through policies, pin, play and step.

export function listenToKeys({ store, scene, model, pick, togglePin, watch, charts }) {
  const move = (direction) => {
    // The next policy that remains, in the order of the first axis in sight.
    const objective = charts.orderBy() ?? model.objectives[0];
    const column = scene.run.values[objective.index];
    const order = Array.from({ length: scene.run.size }, (_, policy) => policy)
      .filter((policy) => scene.mask[policy])
      .sort((one, other) => objective.sign * (column[one] - column[other]) || one - other);
    if (order.length === 0) return;
    const picked = model.policyNamed(store.state.pick);
    const position = picked && picked.run === scene.run ? order.indexOf(picked.policy) : -1;
    const next = position < 0 ? 0 : Math.min(order.length - 1, Math.max(0, position + direction));
    pick(order[next]);
  };
  document.addEventListener('keydown', (event) => {
    const { tagName, type } = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = tagName === 'SELECT' || (tagName === 'INPUT' && type !== 'checkbox');
    if (isTyping) return;
    const isChart = tagName === 'CANVAS';
    if (
      event.key === ']' ||
      (isChart && !event.shiftKey && ['ArrowRight', 'ArrowUp'].includes(event.key))
    )
      move(1);
    else if (
      event.key === '[' ||
      (isChart && !event.shiftKey && ['ArrowLeft', 'ArrowDown'].includes(event.key))
    )
      move(-1);
    else if (event.key === 'p' && store.state.pick) togglePin(store.state.pick);
    else if (event.key === ' ' && !['BUTTON', 'INPUT'].includes(tagName)) watch.togglePlay();
    else if (event.key === '.') watch.stepBy(1);
    else if (event.key === ',') watch.stepBy(-1);
    else return;
    event.preventDefault();
  });
}
