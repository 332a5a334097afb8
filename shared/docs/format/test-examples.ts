/** An example of a setting: parts of `docs.json` with it and without it. They are merged over the settings of the test's project. */
export type Example = { on: object; off?: object };

const on = (value: object, off?: object): Example => ({ on: value, ...(off && { off }) });
const integration = (name: string, settings: object): [string, Example] => [
  `integrations.${name}`,
  on({ integrations: { [name]: settings } }),
];
const banner = (more: object): Example => on({ banner: { content: 'New', ...more } }, { banner: { content: 'New' } });
const link = (more: object): Example => {
  const plain = { href: 'https://a.example', label: 'A' };
  return on({ navbar: { links: [{ ...plain, ...more }] } }, { navbar: { links: [plain] } });
};
const primary = (more: object): Example => {
  const plain = { href: 'https://a.example', label: 'A' };
  return on({ navbar: { primary: { ...plain, ...more } } }, { navbar: { primary: plain } });
};
const api = (more: object, off?: object): Example => on({ api: more }, off && { api: off });
const cards = (more: object): Example => {
  const seo = { metatags: { canonical: 'https://a.example' } };
  return on({ seo, thumbnails: more }, { seo, thumbnails: {} });
};

export const settingExamples: Record<string, Example> = {
  theme: on({ theme: 'maple' }),
  name: on({ name: 'Other' }),
  description: on({ description: 'About it.' }),
  logo: on({ logo: '/logo.svg' }),
  'logo.light': on({ logo: { light: '/logo.svg' } }),
  'logo.dark': on({ logo: { light: '/logo.svg', dark: '/dark.svg' } }, { logo: { light: '/logo.svg' } }),
  'logo.href': on({ logo: { light: '/logo.svg', href: 'https://a.example' } }, { logo: { light: '/logo.svg' } }),
  favicon: on({ favicon: '/logo.svg' }),
  'favicon.light': on({ favicon: { light: '/logo.svg' } }),
  'favicon.dark': on({ favicon: { light: '/logo.svg', dark: '/dark.svg' } }, { favicon: { light: '/logo.svg' } }),
  'colors.primary': on({ colors: { primary: '#aa0000' } }),
  'colors.light': on({ colors: { primary: '#0f766e', light: '#aaddcc' } }),
  'colors.dark': on({ colors: { primary: '#0f766e', dark: '#115533' } }),
  'appearance.default': on({ appearance: { default: 'dark' } }),
  'appearance.strict': on({ appearance: { default: 'dark', strict: true } }, { appearance: { default: 'dark' } }),
  'fonts.family': on({ fonts: { family: 'Inter' } }),
  'fonts.weight': on(
    { fonts: { family: 'Own', source: '/own.woff2', weight: 700 } },
    { fonts: { family: 'Own', source: '/own.woff2' } },
  ),
  'fonts.source': on({ fonts: { family: 'Own', source: '/own.woff2' } }, { fonts: { family: 'Own' } }),
  'fonts.heading': on({ fonts: { heading: { family: 'Inter' } } }),
  'fonts.body': on({ fonts: { body: { family: 'Inter' } } }),
  'icons.library': on({ icons: { library: 'tabler' } }),
  'background.decoration': on({ background: { decoration: 'grid' } }),
  'background.color': on({ background: { color: { light: '#ffeeee', dark: '#110000' } } }),
  'background.image': on({ background: { image: '/logo.svg' } }),
  'thumbnails.appearance': cards({ appearance: 'dark' }),
  'thumbnails.fonts': cards({ fonts: { family: 'Roboto Slab' } }),
  'styling.eyebrows': on({ styling: { eyebrows: 'breadcrumbs' } }),
  'styling.latex': on({ styling: { latex: false } }),
  'navbar.links[].type': link({ type: 'github' }),
  'navbar.links[].label': link({ label: 'B' }),
  'navbar.links[].href': link({ href: 'https://b.example' }),
  'navbar.links[].icon': link({ icon: 'star' }),
  'navbar.links[].iconType': on(
    { navbar: { links: [{ href: 'https://a.example', label: 'A', icon: 'star', iconType: 'regular' }] } },
    { navbar: { links: [{ href: 'https://a.example', label: 'A', icon: 'star' }] } },
  ),
  'navbar.primary.type': primary({ type: 'github' }),
  'navbar.primary.label': primary({ label: 'B' }),
  'navbar.primary.href': primary({ href: 'https://b.example' }),
  'footer.socials': on({ footer: { socials: { github: 'https://github.com/a' } } }),
  'footer.links[].header': on(
    { footer: { links: [{ header: 'H', items: [{ label: 'A', href: 'https://a.example' }] }] } },
    { footer: { links: [{ items: [{ label: 'A', href: 'https://a.example' }] }] } },
  ),
  'footer.links[].items': on({ footer: { links: [{ items: [{ label: 'A', href: 'https://a.example' }] }] } }),
  'banner.content': banner({ content: 'Other' }),
  'banner.dismissible': banner({ dismissible: true }),
  'banner.type': banner({ type: 'warning' }),
  'banner.color': banner({ color: '#aa0000' }),
  'interaction.drilldown': on({ interaction: { drilldown: true } }),
  'contextual.options': on({ contextual: { options: ['copy'] } }),
  'contextual.display': on(
    { contextual: { options: ['copy'], display: 'toc' } },
    { contextual: { options: ['copy'] } },
  ),
  'redirects[].source': on({ redirects: [{ source: '/a', destination: '/index' }] }),
  'redirects[].destination': on(
    { redirects: [{ source: '/a', destination: '/more' }] },
    { redirects: [{ source: '/a', destination: '/index' }] },
  ),
  'redirects[].permanent': on(
    { redirects: [{ source: '/a', destination: '/index', permanent: false }] },
    { redirects: [{ source: '/a', destination: '/index' }] },
  ),
  variables: on({ variables: { product: 'Acme' } }),
  'metadata.timestamp': on({ metadata: { timestamp: true } }),
  'errors.404.title': on({ errors: { 404: { title: 'Lost' } } }),
  'errors.404.description': on({ errors: { 404: { description: 'Look elsewhere.' } } }),
  'api.openapi': api({ openapi: 'other.json' }),
  'api.asyncapi': api({ asyncapi: 'events2.json' }),
  'api.playground.display': api({ playground: { display: 'simple' } }),
  'api.params.expanded': api({ params: { expanded: 'all' } }),
  'api.params.post': api({ params: { post: ['nullable'] } }),
  'api.url': api({ url: 'full' }),
  'api.examples.languages': api({ examples: { languages: ['python'] } }),
  'api.examples.defaults': api({ examples: { defaults: 'required' } }),
  'api.examples.prefill': api({ examples: { prefill: true } }),
  'api.examples.autogenerate': api({ examples: { autogenerate: false } }),
  'api.mdx.auth.method': api(
    { mdx: { server: 'https://a.example', auth: { method: 'bearer' } } },
    { mdx: { server: 'https://a.example' } },
  ),
  'api.mdx.auth.name': api(
    { mdx: { server: 'https://a.example', auth: { method: 'key', name: 'x-own' } } },
    { mdx: { server: 'https://a.example', auth: { method: 'key' } } },
  ),
  'api.mdx.server': api({ mdx: { server: 'https://a.example' } }),
  'markdown.instructions': on({ markdown: { instructions: 'Be brief.' } }),
  'seo.indexing': on({ seo: { indexing: 'all' } }),
  'seo.metatags': on({ seo: { metatags: { 'og:title': 'Own' } } }),
  'seo.organization': on({ seo: { organization: { name: 'Acme' } } }),
  'search.prompt': on({ search: { prompt: 'Find it' } }),
  'search.synonyms': on({ search: { synonyms: [['a', 'b']] } }),
  'integrations.cookies': on({ integrations: { cookies: { key: 'a', value: 'b' } } }),
  ...Object.fromEntries([
    integration('amplitude', { apiKey: 'a' }),
    integration('ga4', { measurementId: 'G-A1' }),
    integration('matomo', { url: 'https://m.example', siteId: 1 }),
    integration('mixpanel', { projectToken: 'a' }),
    integration('plausible', { domain: 'a.example' }),
    integration('posthog', { apiKey: 'a' }),
    integration('segment', { key: 'a' }),
    integration('umami', { url: 'https://u.example', websiteId: 'a' }),
  ]),
};

const pages = ['index', 'more'];
const nav = (value: object, off: object = { pages }): Example => on({ navigation: value }, { navigation: off });
const group = (more: object): Example =>
  nav({ groups: [{ group: 'G', pages, ...more }] }, { groups: [{ group: 'G', pages }] });
const besides = { groups: [{ group: 'H', pages }] };
const groupBesidePages = (more: object): Example =>
  nav({ groups: [{ group: 'G', ...more }, ...besides.groups] }, besides);

type Division = 'tab' | 'anchor' | 'dropdown' | 'product' | 'version' | 'language';
/** Two divisions with a page each. `first` and `second`: further keys of the divisions. */
const two = (kind: Division, first: object = {}, second: object = {}): object => {
  const [one, other] = kind === 'language' ? ['en', 'de'] : ['One', 'Two'];
  return {
    [`${kind}s`]: [
      { [kind]: one, pages: ['index'], ...first },
      { [kind]: other, pages: ['more'], ...second },
    ],
  };
};
const division = (kind: Division, more: object): Example => nav(two(kind, more), two(kind));
const laterDivision = (kind: Division, more: object): Example => nav(two(kind, {}, more), two(kind));
/** A division of all pages, beside one with only an address. */
const withHref = (kind: Division): Example => {
  const whole = { [kind]: 'A', pages };
  return nav({ [`${kind}s`]: [whole, { [kind]: 'B', href: 'https://a.example' }] }, { [`${kind}s`]: [whole] });
};
/** A division with a menu. `more`: further keys of the first item. */
const withMenu = (kind: Division, more: object = {}): object => {
  const items = [
    { item: 'M', pages: ['index'], ...more },
    { item: 'N', pages: ['more'] },
  ];
  return { [`${kind}s`]: [{ [kind]: 'A', menu: items }] };
};
const menuItem = (more: object): Example => nav(withMenu('tab', more), withMenu('tab'));

export const navigationExamples: Record<string, Example> = {
  pages: nav({ pages: ['more', 'index'] }),
  groups: nav({ groups: [{ group: 'G', pages }] }),
  tabs: nav(two('tab')),
  anchors: nav(two('anchor')),
  dropdowns: nav(two('dropdown')),
  products: nav(two('product')),
  versions: nav(two('version')),
  languages: nav(two('language')),
  global: nav({ pages, global: { anchors: [{ anchor: 'A', href: 'https://a.example' }] } }),
  'group.group': group({ group: 'H' }),
  'group.icon': group({ icon: 'star' }),
  'group.iconType': nav(
    { groups: [{ group: 'G', pages, icon: 'star', iconType: 'regular' }] },
    { groups: [{ group: 'G', pages, icon: 'star' }] },
  ),
  'group.tag': group({ tag: 'NEW' }),
  'group.root': nav(
    { groups: [{ group: 'G', root: 'index', pages: ['more'] }] },
    { groups: [{ group: 'G', pages: ['more'] }] },
  ),
  'group.expanded': nav(
    { groups: [{ group: 'G', pages: ['index', { group: 'I', pages: ['more'], expanded: true }] }] },
    { groups: [{ group: 'G', pages: ['index', { group: 'I', pages: ['more'] }] }] },
  ),
  'group.hidden': group({ hidden: true }),
  'group.searchable': group({ searchable: false }),
  'group.openapi': groupBesidePages({ openapi: 'api.json' }),
  'group.asyncapi': groupBesidePages({ asyncapi: 'events.json' }),
  'tab.tab': division('tab', { tab: 'Other' }),
  'tab.icon': division('tab', { icon: 'star' }),
  'tab.href': withHref('tab'),
  'tab.hidden': division('tab', { hidden: true }),
  'tab.searchable': division('tab', { searchable: false }),
  'tab.menu': nav(withMenu('tab'), { tabs: [{ tab: 'A', pages }] }),
  'menu.item': menuItem({ item: 'Other' }),
  'menu.icon': menuItem({ icon: 'star' }),
  'menu.href': menuItem({ href: 'https://a.example', pages: [] }),
  'anchor.anchor': division('anchor', { anchor: 'Other' }),
  'anchor.icon': division('anchor', { icon: 'star' }),
  'anchor.href': nav({ pages, global: { anchors: [{ anchor: 'A', href: 'https://a.example' }] } }),
  'anchor.hidden': division('anchor', { hidden: true }),
  'dropdown.dropdown': division('dropdown', { dropdown: 'Other' }),
  'dropdown.icon': division('dropdown', { icon: 'star' }),
  'dropdown.href': withHref('dropdown'),
  'dropdown.hidden': division('dropdown', { hidden: true }),
  'product.product': division('product', { product: 'Other' }),
  'product.icon': division('product', { icon: 'star' }),
  'product.href': withHref('product'),
  'product.menu': nav(withMenu('product'), { products: [{ product: 'A', pages }] }),
  'version.version': division('version', { version: 'Other' }),
  'version.default': laterDivision('version', { default: true }),
  'version.tag': division('version', { tag: 'NEW' }),
  'version.hidden': division('version', { hidden: true }),
  'version.href': withHref('version'),
  'language.language': division('language', { language: 'fr' }),
  'language.default': laterDivision('language', { default: true }),
  'language.hidden': division('language', { hidden: true }),
  openapi: nav({ openapi: 'api.json' }),
  asyncapi: nav({ asyncapi: 'events.json' }),
  'openapi.directory': nav({ openapi: { source: 'api.json', directory: 'other' } }, { openapi: 'api.json' }),
};

/** The frontmatter of the page `index` with a key, and without it. */
export const frontmatterExamples: Record<string, [on: string, off?: string]> = {
  title: ['title: Other'],
  description: ['description: About it.'],
  sidebarTitle: ['sidebarTitle: Short'],
  icon: ['icon: star'],
  iconType: ['icon: star\niconType: regular', 'icon: star'],
  tag: ['tag: NEW'],
  deprecated: ['deprecated: true'],
  mode: ['mode: wide'],
  hideFooterPagination: ['hideFooterPagination: true'],
  timestamp: ['timestamp: true\nlastUpdatedDate: 2026-01-02', 'lastUpdatedDate: 2026-01-02'],
  lastUpdatedDate: ['timestamp: true\nlastUpdatedDate: 2026-01-02', 'timestamp: true'],
  contextual: ['contextual:\n  options: [copy]'],
  url: ['url: https://a.example'],
  hidden: ['hidden: true'],
  noindex: ['noindex: true'],
  searchable: ['searchable: false'],
  keywords: ['keywords: [alpha]'],
  boost: ['boost: 3'],
  groups: ['groups: [staff]'],
  openapi: ['openapi: GET /users'],
  'openapi-schema': ['openapi-schema: User'],
  api: ['api: POST https://a.example/x'],
  asyncapi: ['asyncapi: lights'],
  authMethod: ['api: POST https://a.example/x\nauthMethod: bearer', 'api: POST https://a.example/x'],
  playground: ['openapi: GET /users\nplayground: none', 'openapi: GET /users'],
  canonical: ['canonical: https://a.example/x'],
  robots: ['robots: noindex'],
  'og:title': ['"og:title": Own'],
  'twitter:title': ['"twitter:title": Own'],
};
