/** @typedef {{ exports: Record<string, any>, islands: Record<string, (slot: (number: number) => any) => [any, any]> }} Module */
/** @typedef {{ places: (string | null)[], links: Record<string, string>, icons: Record<string, string>, modules: Record<string, (host: any) => Module> }} Code */
var own = /** @type {HTMLScriptElement} */ (document.currentScript);
var folder = own.getAttribute('src').replace(/[^/]*$/, '');
var codeAddress = own.dataset.islands;
var sentence = window.binderyTexts.islandNotRun;
/** @type {Code} */
var code;
/** Addresses in the code that are pages and files of the site. @type {Record<string, string>} */
var links = {};
/** @type {Record<string, Module>} */
var made = {};

/** @param {string} address @returns {Promise<void>} */
function script(address) {
  return new Promise(function (resolve, reject) {
    var added = make('script');
    added.src = address;
    added.onload = function () {
      resolve();
    };
    added.onerror = reject;
    document.head.append(added);
  });
}

/** @type {Promise<void>} */
var loading;
/** Loads React and the page's components when the first island needs them. */
function load() {
  if (loading === undefined) {
    /** @type {any} */ (window).binderyIslands = function (/** @type {Code} */ given) {
      code = given;
    };
    loading = script(folder + 'react.js')
      .then(function () {
        return script(codeAddress);
      })
      .then(begin);
  }
  return loading;
}

/** Initializes the host after React and the page's components are loaded. */
function begin() {
  var react = /** @type {any} */ (window).binderyReact;
  React = react.React;
  links = code.links;
  drawings = code.icons;
  host.React = React;
  host.ReactDOM = react.ReactDOM;
  host.Fragment = React.Fragment;
  Boundary = boundary();
}

/** An address relative to the page's file, resolved for the current address: a server may show the file `guides/index.html` at `/guides`. @param {string} written */
function besidePage(written) {
  var page = document.documentElement.dataset;
  if (/^(#|[a-z][a-z0-9+.-]*:)/i.test(written)) return written;
  var file = new URL(
    page.root + String(page.currentPath).split('/').map(encodeURIComponent).join('/').slice(1),
    location.href,
  );
  return new URL(written, file).href;
}

/**
 * Makes an element of a component. Its addresses are resolved like those of the page. @param {any} type @param {any} [props] @param {...any} children
 * @returns {any}
 */
function element(type, props, ...children) {
  var given = props;
  if (typeof type === 'string' && props)
    ['href', 'src', 'poster'].forEach(function (name) {
      var address = props[name];
      if (typeof address !== 'string' || !/^\/(?!\/)/.test(address)) return;
      if (given === props) given = Object.assign({}, props);
      given[name] = Object.prototype.hasOwnProperty.call(links, address)
        ? besidePage(links[address])
        : document.documentElement.dataset.root + address.slice(1);
    });
  return React.createElement(type, given, ...children);
}

/** The object that the code of the page's components gets. @type {any} */
var host = {
  element: element,
  nothing: Nothing,
  component: function (/** @type {string} */ name) {
    return Object.prototype.hasOwnProperty.call(components, name) ? components[name] : Nothing;
  },
  load: function (/** @type {string} */ path) {
    return module(path).exports;
  },
};

/** A file of the page's components; it runs once. @param {string} path @returns {Module} */
function module(path) {
  if (made[path] === undefined) {
    // Files may have circular imports.
    made[path] = { exports: {}, islands: {} };
    if (!code.modules[path]) throw new Error('The file ' + path + ' cannot run in a browser.');
    var run = code.modules[path](host);
    Object.assign(made[path].exports, run.exports);
    Object.assign(made[path].islands, run.islands);
  }
  return made[path];
}

/** Content of the page inside a component. Its nodes are moved instead of copied, so that scripts on them keep working. @param {any} props */
function Content(props) {
  var place = React.useRef(null);
  React.useLayoutEffect(function () {
    /** @type {HTMLElement[]} */
    var slots = props.slots;
    if (slots.length === 0) return undefined;
    var first = slots[0];
    // A second use of the same content gets a copy.
    var isTaken = first.dataset.taken !== undefined;
    /** @type {Node[]} */
    var nodes = isTaken ? Array.from(props.copy.cloneNode(true).childNodes) : Array.from(first.childNodes);
    if (!isTaken) first.dataset.taken = '';
    place.current.replaceChildren.apply(place.current, nodes);
    return function () {
      if (isTaken) return;
      first.replaceChildren.apply(first, nodes);
      delete first.dataset.taken;
    };
  }, []);
  return React.createElement(props.tag, { ref: place, className: 'island-slot' });
}

/** @type {any} */
var Boundary;
/** Catches errors of a component. @returns {any} */
function boundary() {
  return class extends React.Component {
    constructor(/** @type {any} */ props) {
      super(props);
      this.state = { failed: false };
    }
    static getDerivedStateFromError() {
      return { failed: true };
    }
    componentDidCatch() {
      this.props.failed();
    }
    render() {
      return this.state.failed ? null : this.props.children;
    }
  };
}

/** Shows once that an island does not run. Its initial state stays. @param {HTMLElement} island */
function fail(island) {
  if (island.querySelector(':scope > .island-problem')) return;
  var isInline = island.localName === 'span';
  var note = make(isInline ? 'span' : 'p', 'island-problem', sentence);
  note.setAttribute('role', 'status');
  island.dataset.failed = '';
  island.prepend(note, isInline ? ' ' : '');
}

/** @param {HTMLElement} island */
function run(island) {
  var number = Number(island.dataset.island);
  /** @type {HTMLElement[]} */
  var found = Array.prototype.filter.call(
    island.querySelectorAll('[data-slot]'),
    function (/** @type {HTMLElement} */ slot) {
      return slot.closest('.island') === island;
    },
  );
  /** @param {number} wanted */
  function slot(wanted) {
    var slots = found.filter(function (one) {
      return Number(one.dataset.slot) === wanted;
    });
    var copy = slots.length === 0 ? undefined : slots[0].cloneNode(true);
    var tag = slots.length > 0 ? slots[0].localName : 'span';
    return React.createElement(Content, { slots: slots, copy: copy, tag: tag });
  }
  var first = Array.prototype.slice.call(island.childNodes);
  var live = make(/** @type {'div'} */ (island.localName), 'island-live');
  /** @type {any} */
  var root;
  function failed() {
    // React has not finished with the root yet.
    setTimeout(function () {
      root.unmount();
      live.remove();
      island.replaceChildren.apply(island, first);
      fail(island);
    });
  }
  /** Removes the initial nodes before effects of the component measure the layout. @returns {any} */
  function Arrival() {
    React.useInsertionEffect(function () {
      first.forEach(function (node) {
        node.remove();
      });
      island.dataset.running = '';
    }, []);
    return null;
  }
  try {
    var path = code.places[number];
    if (!path) return;
    var call = module(path).islands[number](slot);
    island.append(live);
    root = /** @type {any} */ (window).binderyReact.client.createRoot(live, {
      onCaughtError: function (/** @type {any} */ error) {
        console.warn(error);
      },
    });
    var component = element(call[0], call[1]);
    root.render(React.createElement(Boundary, { failed: failed }, React.createElement(Arrival), component));
  } catch (error) {
    console.warn(error);
    live.remove();
    fail(island);
  }
}

/** @param {HTMLElement} island */
async function start(island) {
  try {
    await load();
    run(island);
  } catch (error) {
    console.warn(error);
    fail(island);
  }
}

// An island generates no box, so a visible part of it is observed.
/** @type {Map<Element, HTMLElement>} */
var watched = new Map();
var observer = new IntersectionObserver(
  function (entries) {
    entries.forEach(function (entry) {
      var island = watched.get(entry.target);
      if (!entry.isIntersecting || island === undefined) return;
      observer.unobserve(entry.target);
      watched.delete(entry.target);
      void start(island);
    });
  },
  { rootMargin: '200px' },
);
document.querySelectorAll('.island').forEach(function (/** @type {HTMLElement} */ island) {
  /** @type {Element} */
  var part = Array.prototype.find.call(island.querySelectorAll('*'), function (/** @type {Element} */ one) {
    return one.getClientRects().length > 0;
  });
  if (part === undefined) {
    // The island has no visible part yet, so a marker at its place is observed.
    part = make('span');
    island.prepend(part);
  }
  // With nested islands, the inner one may already use the part.
  if (watched.has(part)) part = island.insertBefore(make('span'), island.firstChild);
  watched.set(part, island);
  observer.observe(part);
});
