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

const ICON_PATHS = {
  play: 'M4 2.5v11l9-5.5z',
  pause: 'M4 2.5h3v11H4zM9 2.5h3v11H9z',
  forward: 'M5 3l6 5-6 5z',
  back: 'M11 3L5 8l6 5z',
  first: 'M3 3h2v10H3zM13 3L6.5 8l6.5 5z',
  last: 'M11 3h2v10h-2zM3 3l6.5 5L3 13z',
  save: 'M7 2h2v6h3l-4 4.5L4 8h3zM2.5 13h11v1.5h-11z',
  flip: 'M4 2l3 4H5v8H3V6H1zM12 14l-3-4h2V2h2v8h2z',
};

export function icon(name) {
  const space = 'http://www.w3.org/2000/svg';
  const picture = document.createElementNS(space, 'svg');
  picture.setAttribute('viewBox', '0 0 16 16');
  picture.setAttribute('aria-hidden', 'true');
  picture.setAttribute('class', 'icon');
  const path = document.createElementNS(space, 'path');
  path.setAttribute('d', ICON_PATHS[name]);
  picture.append(path);
  return picture;
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
