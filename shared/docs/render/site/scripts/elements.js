/** @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {string} [className] @param {string} [text] */
function make(tag, className, text) {
  var made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}
/** @param {string} path */
function shape(path) {
  var ns = 'http://www.w3.org/2000/svg';
  var svg = document.createElementNS(ns, 'svg');
  /** @type {Record<string, string>} */
  var attributes = {
    class: 'icon',
    viewBox: '0 0 24 24',
    fill: 'none',
    stroke: 'currentColor',
    'aria-hidden': 'true',
  };
  for (var key in attributes) svg.setAttribute(key, attributes[key]);
  var line = document.createElementNS(ns, 'path');
  line.setAttribute('d', path);
  svg.append(line);
  return svg;
}
