// Inputs, each with its label.
/** @typedef {{ field: FormField, element: HTMLElement, text: () => string, files: () => File[] }} FieldInput */
var inputCount = 0;
/** Gives an element a unique id. @template {HTMLElement} E @param {E} input @returns {E} */
function numbered(input) {
  inputCount += 1;
  input.id = 'bindery-input-' + inputCount;
  return input;
}
/** Disables text corrections, because readers type values. @template {HTMLInputElement | HTMLTextAreaElement} E @param {E} input @returns {E} */
function plainInput(input) {
  input.autocomplete = 'off';
  input.spellcheck = false;
  input.setAttribute('autocapitalize', 'off');
  input.dir = 'auto';
  return numbered(input);
}
/** @param {string} [type] */
function textInput(type) {
  var input = make('input', 'playground-input');
  input.type = type || 'text';
  return plainInput(input);
}
/** @param {string} text */
function codeInput(text) {
  var input = make('textarea', 'playground-input playground-code');
  input.value = text;
  input.rows = Math.max(2, Math.min(18, text.split('\n').length));
  return plainInput(input);
}
/** @param {[value: string, shown: string][]} options @param {string} chosen */
function choice(options, chosen) {
  var select = numbered(make('select', 'playground-input'));
  options.forEach(function (option) {
    select.append(new Option(option[1], option[0], false, option[0] === chosen));
  });
  return select;
}
/** @param {string} name @param {HTMLElement} input @param {string[]} [facts] @param {string} [help] */
function labelled(name, input, facts, help) {
  var field = make('div', 'playground-field');
  var label = make('label', 'playground-label');
  label.htmlFor = input.id;
  label.append(make('bdi', 'name', name));
  (facts || []).forEach(function (fact) {
    label.append(' ', make('bdi', fact === words.required ? 'required' : 'fact', fact));
  });
  field.append(label, input);
  if (help) {
    var note = numbered(make('p', 'playground-help', help));
    input.setAttribute('aria-describedby', note.id);
    field.append(note);
  }
  return field;
}
/** @param {FormField} field */
function factsOf(field) {
  return [field.type, field.required ? words.required : '', field.deprecated ? words.deprecated : ''].filter(Boolean);
}
/** @param {FormField} field @param {boolean} prefill @returns {FieldInput} */
function fieldInput(field, prefill) {
  var facts = factsOf(field);
  var start = prefill ? field.example || '' : '';
  var isFile = field.kind === 'file' || field.kind === 'files';
  if (field.kind === 'list' && field.values) return listOfChoices(field, start);
  /** @type {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} */
  var input;
  var help = '';
  if (isFile) {
    input = textInput('file');
    input.multiple = field.kind === 'files';
  } else if (field.values || field.kind === 'boolean') {
    var values = field.values || ['true', 'false'];
    var first = field.required ? field.example || field.fallback || values[0] : '';
    /** @type {[string, string][]} */
    var options = values.map((value) => [value, value]);
    if (!field.required) options.unshift(['', words.notSet]);
    input = choice(options, start || first);
  } else if (field.kind === 'list' || field.kind === 'object') {
    input = codeInput(start);
    if (field.kind === 'list') help = words.oneValuePerLine;
    input.placeholder = field.example || (field.kind === 'object' ? '{}' : '');
  } else {
    input = textInput();
    input.value = start;
    input.placeholder = field.example || '';
  }
  if (field.fallback && !field.required)
    help = [help, words.defaultValue + ' ' + field.fallback].filter(Boolean).join(' · ');
  return {
    field: field,
    element: labelled(field.name, input, facts, help),
    text: () => (isFile ? '' : input.value),
    files: () => (isFile ? Array.prototype.slice.call(/** @type {any} */ (input).files) : []),
  };
}
/** A field with choices. Readers can send any number of them. @param {FormField} field @param {string} start @returns {FieldInput} */
function listOfChoices(field, start) {
  var element = make('fieldset', 'playground-field');
  var legend = make('legend', 'playground-label');
  legend.append(make('bdi', 'name', field.name));
  factsOf(field).forEach(function (fact) {
    legend.append(' ', make('bdi', fact === words.required ? 'required' : 'fact', fact));
  });
  element.append(legend);
  var chosen = start.split('\n');
  var boxes = field.values.map(function (value) {
    var box = make('input');
    box.type = 'checkbox';
    box.value = value;
    box.checked = chosen.includes(value);
    var label = make('label', 'playground-choice');
    label.append(box, make('bdi', '', value));
    element.append(label);
    return box;
  });
  /** @returns {string} */
  function text() {
    return boxes
      .filter((box) => box.checked)
      .map((box) => box.value)
      .join('\n');
  }
  return { field: field, element: element, text: text, files: () => [] };
}
