var root = document.documentElement;
var texts = window.binderyTexts;
var folder = document.currentScript.getAttribute('src').replace(/[^/]*$/, '');
/** @type {HTMLElement[]} */
var figures = Array.prototype.slice.call(document.querySelectorAll('figure.mermaid'));
/** @type {any} */
var mermaid;
/** Diagrams are drawn one after the other. @type {Promise<unknown>} */
var last = Promise.resolve();
var count = 0;

/** @type {Promise<void>} */
var loaded;
function load() {
  if (loaded === undefined)
    loaded = new Promise(function (resolve, reject) {
      var script = make('script');
      script.src = folder + 'mermaid.js';
      script.onload = function () {
        mermaid = /** @type {any} */ (window).mermaid;
        resolve();
      };
      script.onerror = reject;
      document.head.append(script);
    });
  return loaded;
}

/** A colour of the page in a format that Mermaid parses. @param {string} name */
function color(name) {
  var canvas = make('canvas');
  canvas.width = canvas.height = 1;
  var context = canvas.getContext('2d');
  context.fillStyle = getComputedStyle(root).getPropertyValue('--bg').trim();
  context.fillRect(0, 0, 1, 1);
  context.fillStyle = getComputedStyle(root).getPropertyValue(name).trim();
  context.fillRect(0, 0, 1, 1);
  var parts = context.getImageData(0, 0, 1, 1).data;
  return '#' + [parts[0], parts[1], parts[2]].map((part) => part.toString(16).padStart(2, '0')).join('');
}
function settings() {
  var text = color('--text');
  var line = color('--muted');
  var surface = color('--surface');
  var border = line;
  var background = color('--bg');
  /** @type {Record<string, string>} */
  var series = {};
  ['--accent-text', '--note', '--good', '--warn', '--bad', '--tip', '--muted', '--strong'].forEach(function (name, at) {
    series['pie' + (at + 1)] = series['git' + at] = series['cScale' + at] = color(name);
    series['gitBranchLabel' + at] = series['cScaleLabel' + at] = background;
  });
  return {
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    // Labels are text, so that an author's HTML does not get into the page.
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    // These settings cannot be changed by a diagram.
    secure: ['secure', 'securityLevel', 'startOnLoad', 'suppressErrorRendering', 'maxTextSize', 'maxEdges'].concat([
      'htmlLabels',
      'themeCSS',
      'fontFamily',
      'altFontFamily',
      'dompurifyConfig',
      'deterministicIds',
    ]),
    fontFamily: getComputedStyle(document.body).fontFamily,
    theme: 'base',
    themeVariables: Object.assign(series, {
      darkMode: root.classList.contains('dark'),
      background: color('--bg'),
      fontSize: '15px',
      primaryColor: surface,
      primaryTextColor: text,
      primaryBorderColor: border,
      secondaryColor: color('--sunken'),
      secondaryBorderColor: border,
      tertiaryColor: color('--bg'),
      tertiaryBorderColor: border,
      lineColor: line,
      textColor: text,
      mainBkg: surface,
      nodeBorder: border,
      clusterBkg: color('--bg'),
      clusterBorder: border,
      edgeLabelBackground: color('--bg'),
      noteBkgColor: color('--sunken'),
      noteTextColor: text,
      noteBorderColor: border,
      actorBkg: surface,
      actorBorder: border,
      activationBkgColor: border,
      pieStrokeColor: background,
      pieOuterStrokeColor: background,
      pieSectionTextColor: background,
      pieOpacity: '1',
    }),
  };
}

/**
 * Draws `source` off screen. The policy of the page allows no style elements, so the page adopts the style sheet of a drawing while texts are
 * measured, and later only the drawing adopts it.
 */
/** @param {string} source @returns {Promise<{ svg: SVGSVGElement, sheet: CSSStyleSheet }>} */
function drawing(source) {
  // Without this, the directives of a failed diagram would stay and prevent all others from being drawn.
  mermaid.mermaidAPI.reset();
  mermaid.initialize(settings());
  // oxlint-disable-next-line typescript/unbound-method -- it is called on its node, and put back
  var insertBefore = Node.prototype.insertBefore;
  var sheet = new CSSStyleSheet();
  var before = Array.from(document.adoptedStyleSheets);
  var place = make('div', 'diagram-measure');
  place.setAttribute('aria-hidden', 'true');
  document.body.append(place);
  Node.prototype.insertBefore = function (node, next) {
    if (!(/** @type {any} */ (node instanceof HTMLStyleElement)) || !place.contains(this))
      return /** @type {any} */ (insertBefore.call(this, node, next));
    // External resources may not be loaded.
    sheet.replaceSync(node.textContent.replace(/url\(\s*["']?(?!#)[^)]*\)/gi, 'none'));
    document.adoptedStyleSheets = before.concat(sheet);
    return node;
  };
  function restore() {
    Node.prototype.insertBefore = insertBefore;
    document.adoptedStyleSheets = before;
    place.remove();
  }
  count += 1;
  return mermaid.render('diagram-' + count, source, place).then(
    function (/** @type {{ svg: string }} */ made) {
      restore();
      var parsed = new DOMParser().parseFromString(made.svg, 'text/html');
      var svg = parsed.querySelector('svg');
      clean(svg);
      return { svg: document.importNode(svg, true), sheet: sheet };
    },
    function (/** @type {unknown} */ error) {
      restore();
      throw error;
    },
  );
}

/** Keeps only shapes, texts and links to other sites. Mermaid also sanitizes the drawing. @param {SVGSVGElement} svg */
function clean(svg) {
  svg
    .querySelectorAll('script, style, foreignObject, iframe, object, embed, animate, set')
    .forEach((part) => part.remove());
  [svg].concat(Array.prototype.slice.call(svg.querySelectorAll('*'))).forEach(function (element) {
    Array.prototype.slice.call(element.attributes).forEach(function (/** @type {Attr} */ attribute) {
      var value = attribute.value.replace(/[\u0000-\u0020]/g, '');
      var isAddress = /(^|:)(href|src)$/i.test(attribute.name);
      var stays = !isAddress
        ? !/^on/i.test(attribute.name) && !/url\((?!["']?#)/i.test(value)
        : value.startsWith('#') ||
          (element.localName === 'a' ? /^https?:/i : /^data:image\/(png|jpeg|gif|webp);/i).test(value);
      if (!stays) element.removeAttribute(attribute.name);
    });
    if (element.localName === 'a') {
      element.setAttribute('target', '_blank');
      element.setAttribute('rel', 'noopener noreferrer');
    }
  });
}

/** Keeps the text readable, in light and dark, in shapes whose colour an author set. @param {ShadowRoot} shadow */
function readable(shadow) {
  shadow.querySelectorAll('.node').forEach(function (node) {
    var shape = /** @type {HTMLElement} */ (node.querySelector('[style*="fill"]:not(text):not(tspan)'));
    var parts = shape && (getComputedStyle(shape).fill.match(/^rgb\((\d+), (\d+), (\d+)\)/) || []).slice(1).map(Number);
    if (!parts || parts.length < 3 || node.querySelector('text[style*="fill"], .label[style*="color"]')) return;
    var isLight = 0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2] > 140;
    node.querySelectorAll('text, tspan').forEach(function (text) {
      /** @type {HTMLElement} */ (text).style.setProperty('fill', isLight ? '#111' : '#fff', 'important');
    });
  });
}

/** Puts a drawing into a shadow tree, so that its style sheet applies to nothing else. */
/** @param {{ svg: SVGSVGElement, sheet: CSSStyleSheet }} made @param {number} scale */
function hostOf(made, scale) {
  var host = make('div', 'diagram');
  var svg = /** @type {SVGSVGElement} */ (made.svg.cloneNode(true));
  var width = made.svg.viewBox.baseVal.width || 600;
  svg.removeAttribute('height');
  svg.setAttribute('width', '100%');
  svg.style.cssText = 'display: block; margin: 0 auto; height: auto';
  svg.style.width = width * scale + 'px';
  svg.style.maxWidth = scale > 1 ? 'none' : '100%';
  // A smaller drawing would be unreadable, so a wide one scrolls instead.
  svg.style.minWidth = width * scale * 0.6 + 'px';
  if (!svg.querySelector('a')) svg.setAttribute('role', 'img');
  var title = svg.querySelector('title');
  if (!title || !svg.hasAttribute('aria-labelledby')) svg.setAttribute('aria-label', texts.diagram);
  host.attachShadow({ mode: 'open' });
  host.shadowRoot.adoptedStyleSheets = [made.sheet];
  host.shadowRoot.append(svg);
  host.tabIndex = 0;
  return host;
}

/** @param {HTMLElement} figure */
function draw(figure) {
  last = last
    .then(load)
    .then(() => drawing(figure.querySelector('pre').textContent))
    .then(
      (made) => show(figure, made),
      () => showProblem(figure),
    );
}

/** @param {HTMLElement} figure @param {{ svg: SVGSVGElement, sheet: CSSStyleSheet }} made */
function show(figure, made) {
  var old = figure.querySelector('.diagram');
  // Reserves the height, so that content below shifts as little as possible.
  if (!old) figure.style.minHeight = Math.min(figure.offsetHeight, 420) + 'px';
  var host = hostOf(made, 1);
  if (old) old.replaceWith(host);
  else figure.prepend(host);
  figure.classList.add('drawn');
  readable(host.shadowRoot);
  figure.querySelectorAll('.diagram-enlarge').forEach((button) => button.remove());
  var actions = figure.dataset.actions;
  if (actions !== 'false' && (actions === 'true' || host.offsetHeight > 120)) figure.append(enlargeButton(made));
}

/** @param {HTMLElement} figure */
function showProblem(figure) {
  if (figure.classList.contains('drawn') || figure.querySelector('.diagram-problem')) return;
  figure.prepend(make('p', 'diagram-problem', texts.diagramNotDrawn));
}

/** @param {{ svg: SVGSVGElement, sheet: CSSStyleSheet }} made */
function enlargeButton(made) {
  var button = make('button', 'diagram-enlarge icon-button');
  button.type = 'button';
  button.setAttribute('aria-label', texts.enlarge);
  button.append(drawn(icons.maximize));
  button.addEventListener('click', function () {
    var dialog = make('dialog', 'zoom diagram-zoom');
    dialog.setAttribute('aria-label', texts.diagram);
    var width = made.svg.viewBox.baseVal.width || 600;
    dialog.append(hostOf(made, Math.max(1.5, Math.min(2.5, (innerWidth * 0.85) / width))));
    document.body.append(dialog);
    readable(dialog.querySelector('.diagram').shadowRoot);
    dialog.addEventListener('click', function (event) {
      if (!(/** @type {Element} */ (event.target).closest('a'))) /** @type {any} */ (dialog).close();
    });
    dialog.addEventListener('close', function () {
      dialog.remove();
      button.focus();
    });
    /** @type {any} */ (dialog).showModal();
  });
  return button;
}

if (typeof IntersectionObserver === 'function' && 'adoptedStyleSheets' in document) {
  var near = new IntersectionObserver(
    function (entries) {
      entries.forEach(function (entry) {
        if (!entry.isIntersecting) return;
        near.unobserve(entry.target);
        draw(/** @type {HTMLElement} */ (entry.target));
      });
    },
    { rootMargin: '800px' },
  );
  figures.forEach(function (figure) {
    near.observe(figure);
  });
  addEventListener('beforeprint', function () {
    figures.forEach(function (figure) {
      if (!figure.classList.contains('drawn')) draw(figure);
    });
  });
  var wasDark = root.classList.contains('dark');
  new MutationObserver(function () {
    var isDark = root.classList.contains('dark');
    if (isDark === wasDark) return;
    wasDark = isDark;
    figures.forEach(function (figure) {
      if (figure.classList.contains('drawn')) draw(figure);
    });
  }).observe(root, { attributes: true, attributeFilter: ['class'] });
}
