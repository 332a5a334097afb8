// Shows a question and its answer to the reader.
/** @typedef {{ element: HTMLElement, show(answer: { text: string, sources: AnswerSource[] }): boolean, end(): void }} TurnView */

/** A button with an icon and a label. @param {string} className @param {keyof typeof icons} sign @param {string} name @param {() => void} run */
function signButton(className, sign, name, run) {
  var button = make('button', className);
  button.type = 'button';
  button.setAttribute('aria-label', name);
  button.title = name;
  button.append(drawn(icons[sign]));
  button.addEventListener('click', run);
  return button;
}

/** @param {string} text @param {HTMLElement} button */
function copyOfAnswer(text, button) {
  copyText(text, button, function () {
    button.setAttribute('aria-label', texts.copied);
    setTimeout(() => button.setAttribute('aria-label', texts.copy), 1500);
  });
}

/** @param {readonly string[]} questions @param {(question: string) => void} ask */
function questionButtons(questions, ask) {
  var list = make('ul', 'assistant-suggestions');
  questions.forEach(function (question) {
    var button = make('button', '', question);
    button.type = 'button';
    button.dir = 'auto';
    button.addEventListener('click', () => ask(question));
    var item = make('li');
    item.append(button);
    list.append(item);
  });
  return list;
}
/** The path of a source as its reader knows it: `/guides/keys#rotate` → `guides › keys › rotate`. @param {string} url */
function sourcePath(url) {
  var names = url.replace(/^https?:\/\//i, '').split(/[/#]/);
  return names
    .map((name) => decodedName(name) || name)
    .filter(Boolean)
    .join(' › ');
}

/** @param {ConversationTurn} turn @param {{ ask(question: string): void, retry(): void, rate(rating: 'up' | 'down'): Promise<boolean> }} actions @returns {TurnView} */
function turnView(turn, actions) {
  var element = make('div', 'assistant-turn');
  var asked = make('div', 'assistant-question');
  asked.dir = 'auto';
  if (turn.selection) {
    var quote = make('blockquote', 'assistant-quote', turn.selection.value);
    quote.dir = 'auto';
    asked.append(quote);
  }
  asked.append(make('p', '', turn.question));
  var body = make('div', 'assistant-answer');
  var working = make('p', 'assistant-working');
  working.append(make('span', 'sr-only', panelWords.working), make('i'), make('i'), make('i'));
  body.append(working);
  element.append(asked, body);
  var view = markdownView(body, copyOfAnswer);
  var hasRoom = true;

  function showSources() {
    if (turn.sources.length === 0) return;
    var part = make('div', 'assistant-sources');
    part.append(make('p', '', panelWords.sources));
    var list = make('ul');
    turn.sources.forEach(function (source) {
      var link = answerLink(source.url);
      link.dir = 'auto';
      link.append(make('strong', '', source.title), make('small', '', sourcePath(source.url)));
      var item = make('li');
      item.append(link);
      list.append(item);
    });
    part.append(list);
    element.append(part);
  }
  function showProblem() {
    var problem = make('p', 'assistant-problem' + (turn.problem === 'stopped' ? ' is-quiet' : ''));
    problem.append(make('span', '', panelWords[turn.problem]));
    var again = make('button', '', panelWords.retry);
    again.type = 'button';
    again.addEventListener('click', () => actions.retry());
    problem.append(again);
    element.append(problem);
  }
  function showActions() {
    var row = make('div', 'assistant-actions');
    var copyButton = signButton('icon-button', 'copy', texts.copy, () => copyOfAnswer(turn.text, copyButton));
    row.append(copyButton);
    if (turn.messageId) row.append(rateButton('up', panelWords.helpful), rateButton('down', panelWords.notHelpful));
    element.append(row);
  }
  /** @param {'up' | 'down'} rating @param {string} name */
  function rateButton(rating, name) {
    var button = signButton('icon-button', rating === 'up' ? 'thumbs-up' : 'thumbs-down', name, function () {
      var before = turn.rating;
      press(rating);
      void sendRating(rating, before);
    });
    button.dataset.rating = rating;
    button.setAttribute('aria-pressed', String(turn.rating === rating));
    return button;
  }
  /** @param {'up' | 'down'} rating @param {'up' | 'down'} [before] */
  async function sendRating(rating, before) {
    if (!(await actions.rate(rating))) press(before);
  }
  /** @param {'up' | 'down'} [rating] */
  function press(rating) {
    turn.rating = rating;
    Array.from(element.querySelectorAll('[data-rating]')).forEach((one) =>
      one.setAttribute('aria-pressed', String(/** @type {HTMLElement} */ (one).dataset.rating === rating)),
    );
  }

  return {
    element: element,
    show: function (answer) {
      if (answer.text !== '') working.remove();
      if (hasRoom) hasRoom = view(answer.text, true);
      return hasRoom;
    },
    end: function () {
      working.remove();
      if (turn.text !== '' && hasRoom) view(turn.text, false);
      showSources();
      if (turn.problem) showProblem();
      if (turn.text !== '') showActions();
      if (turn.suggestions && turn.suggestions.length > 0)
        element.append(questionButtons(turn.suggestions, (question) => actions.ask(question)));
    },
  };
}
