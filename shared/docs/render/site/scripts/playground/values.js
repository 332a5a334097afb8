// Serializes values of parameters by OpenAPI: place, style and explode.
/** @typedef {import('../../playground-form.ts').PlaygroundForm} PlaygroundForm */
/** @typedef {import('../../playground-form.ts').FormField} FormField */
/** @param {any} value */
function shown(value) {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
/** Keeps reserved characters, except those that end a query. @param {string} text */
function withReserved(text) {
  return encodeURI(text).replace(/[#&+]/g, encodeURIComponent);
}
/** Leaves of an object with their names in brackets. @param {string} name @param {any} value @returns {[string, string][]} */
function deepPairs(name, value) {
  if (typeof value !== 'object' || value === null) return [[name, shown(value)]];
  return Object.keys(value).flatMap((key) => deepPairs(name + '[' + key + ']', value[key]));
}
/** @param {string} name @param {any} value @param {FormField} field @returns {string[]} */
function queryParts(name, value, field) {
  var encode = field.reserved ? withReserved : encodeURIComponent;
  /** @param {[string, any]} pair */
  function part(pair) {
    return encodeURIComponent(pair[0]) + '=' + encode(shown(pair[1]));
  }
  var style = field.style || 'form';
  var explode = field.explode === undefined ? style === 'form' : field.explode;
  var separator = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ',';
  if (field.json || typeof value !== 'object' || value === null) return [part([name, value])];
  if (style === 'deepObject') return deepPairs(name, value).map(part);
  if (explode)
    return Array.isArray(value)
      ? value.map((item) => part([name, item]))
      : Object.keys(value).map((key) => part([key, value[key]]));
  return [
    encodeURIComponent(name) +
      '=' +
      flat(value)
        .map((item) => encode(shown(item)))
        .join(separator),
  ];
}
/** Items of a list; alternating names and values of an object. @param {any} value @returns {any[]} */
function flat(value) {
  return Array.isArray(value) ? value : Object.keys(value).flatMap((key) => [key, value[key]]);
}
/** @param {any} value @param {FormField} field */
function pathPart(value, field) {
  /** @param {any} item */
  function encode(item) {
    return encodeURIComponent(shown(item));
  }
  var name = encodeURIComponent(field.name);
  var style = field.style || 'simple';
  var start = style === 'label' ? '.' : style === 'matrix' ? ';' : '';
  var between = field.explode && start ? start : ',';
  if (field.json || typeof value !== 'object' || value === null)
    return start + (style === 'matrix' ? name + '=' : '') + encode(value);
  var named = style === 'matrix' && (Array.isArray(value) || !field.explode) ? name + '=' : '';
  if (!field.explode) return start + named + flat(value).map(encode).join(',');
  var items = Array.isArray(value)
    ? value.map((item) => named + encode(item))
    : Object.keys(value).map((key) => encodeURIComponent(key) + '=' + encode(value[key]));
  return start + items.join(between);
}
/** @param {any} value @param {FormField} field */
function headerText(value, field) {
  if (field.json || typeof value !== 'object' || value === null) return shown(value);
  if (Array.isArray(value) || !field.explode) return flat(value).map(shown).join(',');
  return Object.keys(value)
    .map((key) => key + '=' + shown(value[key]))
    .join(',');
}
