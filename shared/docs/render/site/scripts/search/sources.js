// Sources of search results: the platform, or the index of the bundle. Both return pages with their sections, best first.
/** @typedef {{ anchor: string, heading: string, text: string }} FoundSection */
/** @typedef {{ path: string, title: string, trail: string, text: string, sections: FoundSection[] }} FoundPage */
/** @typedef {{ pages: FoundPage[], words: QueryWord[], isWhole: boolean }} Answer */
var config = window.binderyConfig;
var place = document.documentElement.dataset;
var mostPages = 8;
/** Limit of the sections of the first page; other pages have fewer. */
var mostSections = 3;

/** Adds a section to its page, up to the limits. @param {FoundPage[]} pages @param {Omit<FoundPage, 'sections' | 'text'>} page @param {FoundSection} section */
function addFound(pages, page, section) {
  var known = pages.find((one) => one.path === page.path);
  if (!known) {
    if (pages.length === mostPages) return;
    known = { path: page.path, title: page.title, trail: page.trail, text: '', sections: [] };
    pages.push(known);
  }
  if (section.anchor === '') known.text = known.text || section.text;
  else if (
    known.sections.length < (known === pages[0] ? mostSections : mostSections - 1) &&
    !known.sections.some((one) => one.anchor === section.anchor)
  )
    known.sections.push(section);
}

/** @type {Promise<void>} */
var opening;
/** @type {ReturnType<typeof searchEngine>} */
var engine;
/** @type {Record<number, true>} */
var partsThere = {};
/** Parts that may have results for the reader. @param {boolean} everywhere */
function partsFor(everywhere) {
  var index = window.binderySearchIndex;
  var first = 0;
  return index.parts
    .map(function (count, number) {
      var scope = index.scopes[index.pages[first][3]];
      var part = { number: number, first: first, isWanted: everywhere || isNear(scope) };
      first += count;
      return part;
    })
    .filter((part) => part.isWanted);
}
/** True for pages of the reader's language and version, and for those that belong to all. @param {[language: string, version: string]} scope */
function isNear(scope) {
  return (
    (!scope[0] || !place.language || scope[0] === place.language) &&
    (!scope[1] || !place.version || scope[1] === place.version)
  );
}
/** Loads the facts about pages, without their texts. A documentation host has only the index of its newest version. */
async function openPages() {
  await load('search-index.js', siteRoot());
  engine = searchEngine(window.binderySearchIndex);
  window.binderySearchPart = function (number, sections) {
    // A part of another size belongs to a newer version of the site.
    if (sections.length !== window.binderySearchIndex.parts[number]) return;
    partsThere[number] = true;
    engine.add(partsFor(true)[number].first, sections);
  };
}
/** Loads the index; `arrived` is called for each part of the texts that is loaded. @param {boolean} everywhere @param {() => void} arrived */
async function openIndex(everywhere, arrived) {
  if (opening === undefined) opening = openPages();
  try {
    await opening;
  } catch (error) {
    opening = undefined;
    throw error;
  }
  await Promise.all(
    partsFor(everywhere).map(async function (part) {
      await load('search/' + part.number + '.js', siteRoot());
      if (!partsThere[part.number]) throw new Error('the site has changed');
      arrived();
    }),
  );
}
/** Results from the parts that are loaded. @param {string} query @param {boolean} everywhere @returns {Answer} */
function askIndex(query, everywhere) {
  var index = window.binderySearchIndex;
  var found = engine.find(query, root.lang, (page) => everywhere || isNear(index.scopes[index.pages[page][3]]));
  /** @type {FoundPage[]} */
  var pages = [];
  found.matches.slice(0, 60).forEach(function (match) {
    var page = index.pages[match.page];
    var section = engine.section(match);
    var text = section[0] === '' ? [page[2], section[2]].filter(Boolean).join(' ') : section[2];
    addFound(
      pages,
      { path: page[0], title: page[1], trail: index.trails[page[4]] },
      { anchor: section[0], heading: section[1], text: text },
    );
  });
  return { pages: pages, words: found.words, isWhole: partsFor(everywhere).every((part) => partsThere[part.number]) };
}

/** @typedef {{ content: string, path: string, metadata: { title: string, heading: string, url: string } }} Passage */
var longestTitle = 300;
var longestPassage = 4000;
/** True for a valid passage whose address is a page of the site. Answers of the platform are not trusted. @param {any} value @returns {value is Passage} */
function isPassage(value) {
  var about = value && value.metadata;
  return (
    about &&
    [value.content, value.path, about.title, about.heading, about.url].every((text) => typeof text === 'string') &&
    /** @type {Passage} */ (value).path.split('/').every((name) => !/^\.{0,2}$/.test(name))
  );
}
/** The id in the hash of an address; the hash may be invalid. @param {string} hash */
function idIn(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch (_) {
    return hash.slice(1);
  }
}

var withinMs = 6000;
/** The request to the platform in flight. @type {AbortController} */
var underWay;
/** Queries the platform. Rejects with the status of a refusal, or without a status if there is no answer. @param {string} query @param {boolean} everywhere @returns {Promise<Answer>} */
function askPlatform(query, everywhere) {
  if (underWay) underWay.abort();
  var request = (underWay = new AbortController());
  var timer = setTimeout(() => request.abort(), withinMs);
  return fetch(config.serverUrl + '/discovery/v1/search/' + config.domain, {
    method: 'POST',
    headers: { authorization: 'Bearer ' + config.assistantKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      query: query,
      pageSize: 30,
      filter: everywhere ? {} : { language: place.language, version: place.version },
    }),
    credentials: 'same-origin',
    referrerPolicy: 'no-referrer',
    signal: request.signal,
  })
    .then(function (response) {
      if (!response.ok) throw { status: response.status };
      return response.json();
    })
    .then(function (passages) {
      /** @type {FoundPage[]} */
      var pages = [];
      passages.filter(isPassage).forEach(
        /** @param {Passage} passage */
        function (passage) {
          var about = passage.metadata;
          addFound(
            pages,
            { path: passage.path, title: about.title.slice(0, longestTitle), trail: trailOf(passage.path) },
            {
              anchor: idIn(about.url.replace(/^[^#]*/, '')),
              heading: about.heading.slice(0, longestTitle),
              text: passage.content.slice(0, longestPassage),
            },
          );
        },
      );
      return { pages: pages, words: wordsOf(query, root.lang), isWhole: true };
    })
    .finally(() => clearTimeout(timer));
}
/** Titles of the groups that contain a page, from the sidebar. @param {string} path */
function trailOf(path) {
  /** @param {import('../../page-globals.ts').SidebarEntry[]} entries @param {string[]} above @returns {string[]} */
  function inside(entries, above) {
    for (var at = 0; at < entries.length; at++) {
      var entry = entries[at];
      if (entry.p === path && !entry.c) return above;
      var found = entry.c && inside(entry.c, above.concat(entry.t));
      if (found) return found;
    }
    return undefined;
  }
  var sidebar = window.binderyNavigation;
  return ((sidebar && inside(sidebar.entries, [])) || []).join(' › ');
}
