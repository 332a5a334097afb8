// The dialog of the form. When it is closed it stays in the page with the entered values.
var deadlineSeconds = 60;
/** @type {HTMLDialogElement} */
var dialogOfForm;
window.binderyPlayground = function (form) {
  if (dialogOfForm) {
    dialogOfForm.showModal();
    return;
  }
  dialogOfForm = playgroundDialog(form);
  var styles = make('link');
  styles.rel = 'stylesheet';
  styles.href = filesRoot() + '_bindery/playground.css';
  styles.onload = styles.onerror = function () {
    dialogOfForm.showModal();
  };
  document.head.append(styles);
};
/** @param {PlaygroundForm} form */
function playgroundDialog(form) {
  var dialog = make('dialog', 'playground');
  var inputs = operationInputs(form);
  var title = numbered(make('h2', 'playground-address'));
  var method = make('span', 'method method-' + form.method.toLowerCase().replace(/[^a-z]/g, ''), form.method);
  var address = make('bdi');
  address.dir = 'ltr';
  title.append(method, ' ', address);
  dialog.setAttribute('aria-labelledby', title.id);

  var send = make('button', 'playground-send');
  send.append(drawn(icons.send), words.send);
  var cancel = make('button', 'playground-send playground-cancel', words.cancel);
  cancel.type = 'button';
  cancel.hidden = true;
  var close = make('button', 'icon-button playground-close');
  close.type = 'button';
  close.setAttribute('aria-label', words.close);
  close.append(drawn(icons.x));
  close.addEventListener('click', function () {
    dialog.close();
  });
  var bar = make('div', 'playground-bar');
  bar.append(title, send, cancel, close);

  var fields = make('div', 'playground-fields');
  fields.append(...inputs.elements);
  var command = codeBlock();
  command.element.classList.add('playground-command');
  var only = make('p', 'playground-help');
  only.hidden = true;
  var answer = make('div', 'playground-answer');
  var progress = make('p', 'sr-only');
  progress.setAttribute('role', 'status');
  var result = make('div', 'playground-result');
  var response = section(words.response, [answer]);
  response.hidden = true;
  result.append(section(words.request, [command.element, only]), response, progress);
  var columns = make('div', 'playground-columns');
  if (inputs.elements.length > 0) columns.append(fields);
  columns.append(result);
  var element = make('form', 'playground-form');
  element.noValidate = true;
  element.append(bar, columns);
  dialog.append(element);
  document.body.append(dialog);

  function update() {
    var request = builtRequest(form, inputs.entered());
    address.textContent = request.url || form.path;
    command.code.textContent = request.url ? curlCommand(request) : words.enterServer;
    var names = request.hidden.headers.map((header) => header[0]).concat(request.hidden.body ? [words.body] : []);
    only.hidden = names.length === 0;
    only.textContent = filledIn(words.onlyInCommand, { names: names.join(', ') });
  }
  element.addEventListener('input', update);
  element.addEventListener('change', update);
  update();

  /** @param {HTMLElement[]} content @param {string} said */
  function show(content, said) {
    answer.replaceChildren(...content);
    response.hidden = false;
    progress.textContent = said;
    response.scrollIntoView({ block: 'nearest' });
  }
  /** @param {string[]} sentences */
  function showProblem(sentences) {
    show(
      sentences.map((sentence, at) => make('p', at === 0 ? 'playground-problem' : 'playground-help', sentence)),
      sentences.join(' '),
    );
  }
  /** @param {BuiltRequest} request */
  function showRedirect(request) {
    showProblem([filledIn(words.redirected, { server: new URL(request.url).origin })]);
  }
  /** @type {AbortController} */
  var running;
  cancel.addEventListener('click', function () {
    running.abort();
    send.focus();
  });
  element.addEventListener('submit', function (event) {
    event.preventDefault();
    if (running) return;
    var request = builtRequest(form, inputs.entered());
    if (request.problems.length > 0) {
      showProblem(request.problems.filter((problem, at) => request.problems.indexOf(problem) === at));
      return;
    }
    running = new AbortController();
    var isLate = false;
    var timer = setTimeout(function () {
      isLate = true;
      running.abort();
    }, deadlineSeconds * 1000);
    var hadFocus = document.activeElement === send;
    send.hidden = true;
    cancel.hidden = false;
    if (hadFocus) cancel.focus();
    answer.replaceChildren(make('p', 'playground-help', words.sending));
    response.hidden = false;
    progress.textContent = words.sending;
    sendRequest(request, running.signal)
      .then(
        (made) =>
          made.response.type === 'opaqueredirect'
            ? showRedirect(request)
            : show(answerElements(made), answerLine(made)),
        function () {
          var names = {
            origin: location.protocol === 'file:' ? 'null' : location.origin,
            seconds: String(deadlineSeconds),
          };
          if (running.signal.aborted && !isLate) showProblem([words.cancelled]);
          else
            showProblem([
              filledIn(isLate ? words.timedOut : words.noAnswer, names),
              filledIn(words.noAnswerHelp, names),
            ]);
        },
      )
      .finally(function () {
        clearTimeout(timer);
        running = undefined;
        hadFocus = document.activeElement === cancel;
        cancel.hidden = true;
        send.hidden = false;
        if (hadFocus) send.focus();
      });
  });
  // In multi-line fields, Enter ends a line.
  element.addEventListener('keydown', function (event) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      element.requestSubmit();
    }
  });
  return dialog;
}
/** @param {ApiAnswer} made */
function answerLine(made) {
  return words.response + ': ' + made.response.status + ' ' + made.response.statusText;
}
/**
 * True for a request with credentials, headers, a body, or a method other than GET and HEAD. Browsers resend all of that to the target of a redirect,
 * so redirects are followed only for other requests. @param {BuiltRequest} request
 */
function isSecret(request) {
  return (
    request.hasCredentials || request.headers.length > 0 || hasBody(request) || !/^(GET|HEAD)$/.test(request.method)
  );
}
/** Sends the request directly to the server, without cookies, referrer and cache. @param {BuiltRequest} request @param {AbortSignal} signal @returns {Promise<ApiAnswer>} */
async function sendRequest(request, signal) {
  var headers = new Headers(request.headers.filter((header) => header[0].toLowerCase() !== 'content-type'));
  var sent = request.hidden.body ? {} : sentBody(request);
  if (sent.mimeType) headers.set('Content-Type', sent.mimeType);
  var began = performance.now();
  var response = await fetch(request.url, {
    method: request.method,
    headers: headers,
    body: sent.body,
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
    cache: 'no-store',
    redirect: isSecret(request) ? 'manual' : 'follow',
    signal: signal,
  });
  var read = await bodyOf(response);
  return {
    response: response,
    bytes: read.bytes,
    isWhole: read.isWhole,
    milliseconds: Math.round(performance.now() - began),
  };
}
