// Making elements: one call per element, text is never parsed as HTML.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'text') element.textContent = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function choice(label, options, selected, onChange) {
  const select = make('select', { 'aria-label': label, onchange: () => onChange(select.value) });
  for (const { value, text } of options) {
    select.append(make('option', { value, text }));
  }
  select.value = String(selected);
  return select;
}

const announcer = make('div', { class: 'visually-hidden', 'aria-live': 'polite', id: 'announcer' });

export function announce(text) {
  if (!announcer.isConnected) document.body.append(announcer);
  announcer.textContent = text;
}

const tooltipBox = make('div', { class: 'tooltip', hidden: true, 'aria-hidden': 'true' });

export function showTooltip(event, title, lines) {
  if (!tooltipBox.isConnected) document.body.append(tooltipBox);
  tooltipBox.replaceChildren(
    make('strong', { text: title }),
    ...lines.map((line) => make('div', { text: line })),
  );
  tooltipBox.hidden = false;
  const { width, height } = tooltipBox.getBoundingClientRect();
  const right = event.clientX + 16 + width > window.innerWidth;
  const left = right ? event.clientX - 16 - width : event.clientX + 16;
  const top = Math.min(event.clientY + 12, window.innerHeight - height - 8);
  tooltipBox.style.left = `${Math.max(4, left)}px`;
  tooltipBox.style.top = `${Math.max(4, top)}px`;
}

export function hideTooltip() {
  tooltipBox.hidden = true;
}
