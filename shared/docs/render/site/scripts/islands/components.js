// Built-in components for islands. They have the same elements and classes as in static content, but fewer features.
/** React, once it is loaded. @type {any} */
var React = undefined;
/** @type {Record<string, string>} Drawings of the icons in the page's islands. */
var drawings = {};
/** @param {any} type @param {any} [props] @param {...any} children @returns {any} */
function el(type, props, ...children) {
  return React.createElement(type, props, ...children);
}
/** @param {string} markup of ours @param {string} [name] */
function sign(markup, name) {
  var svg = drawn(markup);
  if (name) svg.classList.add(name);
  return el('span', { style: { display: 'contents' }, dangerouslySetInnerHTML: { __html: svg.outerHTML } });
}
/** The icon of a component: a name, an address of a picture, a text, or elements. @param {any} icon @param {string} name */
function iconOf(icon, name) {
  if (typeof icon !== 'string') return icon ? el('span', { className: 'icon ' + name }, icon) : null;
  if (Object.prototype.hasOwnProperty.call(drawings, icon)) return sign(drawings[icon], name);
  if (/^(https:|\.{0,2}\/)/.test(icon)) return element('img', { className: 'icon ' + name, src: icon, alt: '' });
  return /^[a-z0-9-]*$/i.test(icon) ? null : el('span', { className: 'icon emoji ' + name, 'aria-hidden': true }, icon);
}
/** @param {string} kind @param {string} [drawing] @returns {(props: any) => any} */
function callout(kind, drawing) {
  return function (props) {
    return el(
      'div',
      { className: 'callout callout-' + kind, role: 'note' },
      props.icon ? iconOf(props.icon, 'callout-icon') : drawing ? sign(icons[drawing], 'callout-icon') : null,
      el(
        'div',
        { className: 'callout-content' },
        props.title ? el('p', { className: 'callout-title' }, props.title) : null,
        props.children,
      ),
    );
  };
}
/** @param {any} props */
function Card(props) {
  var title = props.href
    ? element('a', { className: 'card-link', href: props.href }, props.title || props.href)
    : props.title;
  var classes = 'card' + (props.horizontal ? ' horizontal' : '') + (props.href ? ' linked' : '');
  if (props.className) classes += ' ' + props.className;
  return el(
    'div',
    { className: classes },
    props.img ? element('img', { className: 'card-image', src: props.img, alt: '' }) : null,
    iconOf(props.icon, 'card-icon'),
    el(
      'div',
      { className: 'card-body' },
      title ? el('p', { className: 'card-title' }, title) : null,
      props.children ? el('div', { className: 'card-text' }, props.children) : null,
      props.cta ? el('p', { className: 'card-cta' }, el('span', null, props.cta)) : null,
    ),
  );
}
/** @param {any} props */
function Columns(props) {
  var count = Math.min(4, Math.max(1, Math.round(Number(props.cols) || 2)));
  return el('div', { className: 'card-group columns cols-' + count }, props.children);
}
/** @param {any} props */
function Accordion(props) {
  return el(
    'details',
    { className: 'accordion', open: Boolean(props.defaultOpen) },
    el(
      'summary',
      null,
      sign(icons['chevron-right'], 'chevron'),
      iconOf(props.icon, 'accordion-icon'),
      el('span', { className: 'accordion-title' }, props.title),
    ),
    el('div', { className: 'accordion-content' }, props.children),
  );
}
/** @param {any} props */
function Steps(props) {
  var number = 0;
  return el(
    'ol',
    { className: 'steps' },
    React.Children.map(props.children, function (/** @type {any} */ child) {
      if (!child || !child.props) return child;
      number += 1;
      return React.cloneElement(child, { stepNumber: child.props.stepNumber || number });
    }),
  );
}
/** @param {any} props */
function Step(props) {
  return el(
    'li',
    { className: 'step' },
    el(
      'div',
      { className: 'step-number', 'aria-hidden': true },
      iconOf(props.icon, 'step-icon') || props.stepNumber || 1,
    ),
    el(
      'div',
      { className: 'step-body' },
      props.title ? el('p', { className: 'step-title' }, props.title) : null,
      el('div', { className: 'step-content' }, props.children),
    ),
  );
}
/** @param {any} props */
function Tabs(props) {
  var state = React.useState(Number(props.defaultTabIndex) || 0);
  var name = React.useId();
  var tabs = React.Children.toArray(props.children).filter(function (/** @type {any} */ child) {
    return child && child.props;
  });
  /** @param {any} event @param {number} at */
  function move(event, at) {
    /** @type {number | undefined} */
    var step = { ArrowRight: 1, ArrowLeft: -1 }[/** @type {string} */ (event.key)];
    if (step === undefined) return;
    event.preventDefault();
    var to = (at + step + tabs.length) % tabs.length;
    state[1](to);
    event.currentTarget.parentElement.children[to].focus();
  }
  var buttons = tabs.map(function (/** @type {any} */ tab, /** @type {number} */ at) {
    var isChosen = at === state[0];
    var attributes = {
      key: at,
      type: 'button',
      role: 'tab',
      id: name + 'tab' + at,
      className: 'tabs-item',
      'aria-selected': isChosen,
      'aria-controls': name + at,
      tabIndex: isChosen ? 0 : -1,
      onClick: function () {
        state[1](at);
      },
      onKeyDown: function (/** @type {any} */ event) {
        move(event, at);
      },
    };
    return el('button', attributes, iconOf(tab.props.icon, 'tab-icon'), el('span', null, tab.props.title));
  });
  var panels = tabs.map(function (/** @type {any} */ tab, /** @type {number} */ at) {
    var isChosen = at === state[0];
    var attributes = {
      key: at,
      id: name + at,
      role: 'tabpanel',
      'aria-labelledby': name + 'tab' + at,
      className: 'tab-panel',
      hidden: !isChosen,
      'data-active': isChosen ? '' : undefined,
    };
    return el('section', attributes, tab.props.children);
  });
  return el('div', { className: 'tabs' }, el('div', { className: 'tabs-list', role: 'tablist' }, buttons), panels);
}
/** @param {any} props */
function CodeBlock(props) {
  var title = props.filename || props.title;
  return el(
    'div',
    { className: 'code-block' },
    title ? el('div', { className: 'code-head' }, el('span', { className: 'code-title' }, title)) : null,
    el('pre', { tabIndex: 0 }, el('code', null, props.children)),
  );
}
/** @param {any} props */
function Field(props) {
  var name = props.path || props.query || props.body || props.header || props.name;
  return el(
    'div',
    { className: 'field' },
    el('div', { className: 'field-head' }, el('code', null, name), props.type ? el('samp', null, props.type) : null),
    el('div', null, props.children),
  );
}
/** A component that wraps its children in an element. @param {string} type @param {string} className @returns {(props: any) => any} */
function around(type, className) {
  return function (props) {
    return el(type, { className: props.className ? className + ' ' + props.className : className }, props.children);
  };
}
/** @param {any} props */
function Icon(props) {
  var size = props.size ? { width: props.size + 'px', height: props.size + 'px' } : null;
  var made = iconOf(props.icon, ('inline-icon ' + (props.className || '')).trim().split(' ')[0]);
  if (!made) return null;
  return el(
    'span',
    { className: props.className, style: Object.assign({ color: props.color, display: 'contents' }, size) },
    made,
  );
}
/** @param {any} props */
function Nothing(props) {
  return props.children === undefined ? null : props.children;
}
/** @type {Record<string, (props: any) => any>} */
var components = {
  Card: Card,
  Tile: Card,
  CardGroup: Columns,
  Columns: Columns,
  Tiles: Columns,
  Column: around('div', 'column'),
  Note: callout('note', 'notepad-text'),
  Info: callout('info', 'info'),
  Tip: callout('tip', 'lightbulb'),
  Check: callout('check', 'circle-check'),
  Warning: callout('warning', 'triangle-alert'),
  Danger: callout('danger', 'octagon-alert'),
  Callout: callout('custom'),
  Accordion: Accordion,
  AccordionGroup: around('div', 'accordion-group'),
  Expandable: Accordion,
  Steps: Steps,
  Step: Step,
  Tabs: Tabs,
  CodeGroup: around('div', 'code-group single'),
  CodeBlock: CodeBlock,
  ParamField: Field,
  ResponseField: Field,
  Frame: function (props) {
    return el(
      'figure',
      { className: 'frame' },
      el('div', { className: 'frame-content' }, props.children),
      props.caption ? el('figcaption', null, props.caption) : null,
    );
  },
  Badge: function (props) {
    return el('span', { className: 'badge', 'data-badge': '', 'data-color': props.color || 'gray' }, props.children);
  },
  Tooltip: function (props) {
    var tip = el(
      'span',
      { className: 'tooltip-content', role: 'tooltip' },
      el('span', null, props.tip || props.content),
    );
    return el('span', { className: 'tooltip', tabIndex: 0 }, props.children, tip);
  },
  Icon: Icon,
  Link: function (props) {
    return element('a', { className: 'link', href: props.href || props.to }, props.children);
  },
  Image: function (props) {
    return element('img', props);
  },
};
