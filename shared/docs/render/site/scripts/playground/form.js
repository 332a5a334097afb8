// Sections of the form, and their values.
/** @param {string} title @param {HTMLElement[]} content */
function section(title, content) {
  var made = make('section', 'playground-section');
  made.append(make('h3', '', title), ...content);
  return made;
}
/** Shows one of several parts, with a list to choose from if there are several. @param {string} title @param {[name: string, content: HTMLElement][]} parts */
function oneOfParts(title, parts) {
  var element = make('div');
  /** @type {[string, string][]} */
  var options = parts.map((part, at) => [String(at), part[0]]);
  var select = choice(options, '0');
  select.setAttribute('aria-label', title);
  if (parts.length > 1) element.append(select);
  parts.forEach(function (part, at) {
    part[1].hidden = at > 0;
    element.append(part[1]);
  });
  select.addEventListener('change', function () {
    parts.forEach(function (part, at) {
      part[1].hidden = String(at) !== select.value;
    });
  });
  return { element: element, chosen: () => Number(select.value) };
}
/** @param {PlaygroundForm} form */
function serverPart(form) {
  /** @type {import('../../playground-form.ts').FormServer[]} */
  var servers = form.servers.length > 0 ? form.servers : [{ url: '' }];
  /** @type {(() => string)[]} */
  var addresses = [];
  var isAsked = false;
  var parts = servers.map(function (server) {
    var content = make('div');
    /** @type {Record<string, HTMLInputElement | HTMLSelectElement>} */
    var inputs = {};
    var variables = server.variables || {};
    Object.keys(variables).forEach(function (name) {
      var variable = variables[name];
      var input = variable.values
        ? choice(
            variable.values.map((value) => [value, value]),
            variable.value,
          )
        : textInput();
      input.value = variable.value;
      inputs[name] = input;
      isAsked = true;
      content.append(labelled(name, input));
    });
    /** @returns {string} */
    function address() {
      return server.url.replace(/\{([^{}]+)\}/g, (written, name) =>
        Object.prototype.hasOwnProperty.call(inputs, name) ? inputs[name].value.trim() : written,
      );
    }
    if (serverUrl(address()) || Object.keys(variables).length > 0) addresses.push(address);
    else {
      // The server has a relative address, and the site does not state its own.
      var own = textInput('url');
      own.placeholder = 'https://api.example.com';
      isAsked = true;
      content.append(labelled(words.serverAddress, own));
      addresses.push(() => own.value.trim());
    }
    var description = server.description;
    return /** @type {[string, HTMLElement]} */ ([server.url + (description ? ' – ' + description : ''), content]);
  });
  var shown = oneOfParts(words.servers, parts);
  return {
    element: parts.length > 1 || isAsked ? section(words.servers, [shown.element]) : undefined,
    address: () => addresses[shown.chosen()](),
  };
}
/** @param {PlaygroundForm} form @returns {{ element: HTMLElement | undefined, credentials: () => Entered['credentials'] }} */
function credentialsPart(form) {
  var sets = form.auth.slice(0);
  /** @type {[FormCredential, () => string, () => string][][]} */
  var read = [];
  var parts = sets.map(function (set) {
    var content = make('div');
    read.push(
      set.map(function (credential) {
        var isBasic = credential.kind === 'basic';
        var first = textInput(isBasic ? 'text' : 'password');
        var label = isBasic ? words.username : credential.kind === 'token' ? words.token : credential.name;
        content.append(labelled(label, first, [credential.title === label ? '' : credential.title].filter(Boolean)));
        var second = textInput('password');
        if (isBasic) content.append(labelled(words.password, second));
        return /** @type {[FormCredential, () => string, () => string]} */ ([
          credential,
          () => first.value,
          () => second.value,
        ]);
      }),
    );
    var names = set.map((credential) => credential.title).join(' + ');
    return /** @type {[string, HTMLElement]} */ ([names || words.notSet, content]);
  });
  if (!sets.some((set) => set.length > 0)) return { element: undefined, credentials: () => [] };
  var shown = oneOfParts(words.authorizations, parts);
  return {
    element: section(words.authorizations, [shown.element, make('p', 'playground-help', words.credentialsNote)]),
    credentials: () => read[shown.chosen()].map((given) => [given[0], given[1](), given[2]()]),
  };
}
/** @param {PlaygroundForm} form @returns {{ element: HTMLElement | undefined, body: () => EnteredBody | undefined }} */
function bodyPart(form) {
  /** @type {(() => EnteredBody)[]} */
  var read = [];
  var parts = form.bodies.map(function (body) {
    var content = make('div');
    // With several bodies, the list states the type.
    var facts = [...(form.bodies.length > 1 ? [] : [body.mimeType]), ...(body.required ? [words.required] : [])];
    if (body.fields) {
      var inputs = body.fields.map((field) => fieldInput(field, form.prefill === true));
      content.append(...inputs.map((input) => input.element));
      read.push(() => ({
        body: body,
        text: '',
        files: [],
        values: inputs.map((input) => [input.field, input.text(), input.files()]),
      }));
    } else if (body.file) {
      var chosen = textInput('file');
      content.append(labelled(words.file, chosen, facts));
      read.push(() => ({ body: body, text: '', files: Array.prototype.slice.call(chosen.files), values: [] }));
    } else {
      var text = codeInput(body.text || '');
      text.rows = Math.max(4, text.rows);
      text.dir = 'ltr';
      var problem = make('p', 'playground-help playground-problem');
      problem.hidden = true;
      text.addEventListener('input', function () {
        problem.hidden = !/json/i.test(body.mimeType) || text.value.trim() === '' || isJson(text.value);
        problem.textContent = filledIn(words.badJson, { name: words.body });
      });
      content.append(labelled(words.body, text, facts), problem);
      read.push(() => ({ body: body, text: text.value, files: [], values: [] }));
    }
    return /** @type {[string, HTMLElement]} */ ([body.mimeType, content]);
  });
  if (parts.length === 0) return { element: undefined, body: () => undefined };
  var shown = oneOfParts(words.body, parts);
  return { element: section(words.body, [shown.element]), body: () => read[shown.chosen()]() };
}
/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch (_) {
    return false;
  }
}
/** @param {PlaygroundForm} form */
function operationInputs(form) {
  var server = serverPart(form);
  var auth = credentialsPart(form);
  var body = bodyPart(form);
  var inputs = form.fields.map((field) => fieldInput(field, form.prefill === true));
  /** @type {[FormField['in'], string][]} */
  var places = [
    ['path', words.pathParameters],
    ['query', words.queryParameters],
    ['header', words.headers],
    ['cookie', words.cookies],
  ];
  var sections = places.map(function (place) {
    var own = inputs.filter((input) => input.field.in === place[0]);
    return own.length === 0
      ? undefined
      : section(
          place[1],
          own.map((input) => input.element),
        );
  });
  return {
    elements: [server.element, auth.element, ...sections, body.element].filter(Boolean),
    /** @returns {Entered} */
    entered: () => ({
      server: server.address(),
      values: inputs.map((input) => [input.field, input.text()]),
      credentials: auth.credentials(),
      body: body.body(),
    }),
  };
}
