import { allDone, done, not, partly, type SupportTable } from './support.ts';

const noScripts = 'it needs a script of its vendor, and Bindery adds no scripts of other sites';

/** Support for the settings of `docs.json` except its navigation. `[]` stands for the members of a list. */
export const settingSupport: SupportTable = {
  ...allDone('theme name description logo logo.light logo.dark logo.href favicon favicon.light favicon.dark'),
  ...allDone('colors.primary colors.light appearance.default appearance.strict'),
  ...allDone('fonts.family fonts.weight'),
  'fonts.source': partly('files of the project; fonts of other sites are left to the reader’s system'),
  ...allDone('fonts.heading fonts.body icons.library background.decoration background.color background.image'),
  'fonts.format': not('the format is read from the file itself'),
  ...allDone('styling.eyebrows styling.latex'),
  'colors.dark': partly('buttons have this colour on hover, if their text is legible on it'),
  'styling.codeblocks': not('one palette for light and dark has the contrast that readers need'),
  'thumbnails.appearance': partly(
    'pages get a card where `seo.metatags.canonical` says where the site is, they name no `og:image`, and their titles are in Latin, Greek or Cyrillic letters',
  ),
  'thumbnails.background': not('cards have the colours of the site; a picture of your own can be the `og:image`'),
  'thumbnails.fonts': partly('Roboto, Roboto Slab and Roboto Condensed; cards that name another font are in Roboto'),
  ...allDone('navbar.links[].type navbar.links[].label navbar.links[].href navbar.links[].icon'),
  'navbar.links[].iconType': done,
  ...allDone('navbar.primary.type navbar.primary.label navbar.primary.href footer.socials'),
  ...allDone('footer.links[].header footer.links[].items banner.content banner.dismissible banner.type banner.color'),
  'interaction.drilldown': done,
  'contextual.options': partly(
    'copy, view, assistant, chatgpt, claude, perplexity, grok, aistudio, mcp, add-mcp, cursor, vscode, and links of the project with `$path`. The four of MCP show on hosts that answer agents. Other sites are left out of air-gapped bundles',
  ),
  'contextual.display': done,
  ...allDone('redirects[].source redirects[].destination redirects[].permanent variables metadata.timestamp'),
  'errors.404.redirect': not(
    'a folder of files cannot redirect a missing address without losing the address that the reader asked for',
  ),
  ...allDone('errors.404.title errors.404.description api.openapi api.asyncapi'),
  'api.playground.display': partly('`auth` counts as `none`: nobody is signed in to a folder of files'),
  'api.playground.proxy': not('requests go directly from the reader’s browser to the API, without a proxy'),
  'api.playground.credentials': not('no cookies are sent with requests of the playground'),
  ...allDone('api.params.expanded api.params.post api.url api.examples.languages api.examples.defaults'),
  'api.examples.prefill': done,
  'api.examples.autogenerate': done,
  ...allDone('api.mdx.auth.method api.mdx.auth.name api.mdx.server'),
  'markdown.schema': not('the Markdown of a page describes its operation in words and tables'),
  'markdown.instructions': done,
  ...allDone('seo.indexing seo.metatags seo.organization'),
  'seo.trailingSlash': not('a bundle has one file for each page, and hosts answer to both forms'),
  'search.prompt': done,
  'search.synonyms': partly(
    'the search and the assistant of the platform use them, but the search in bundles does not',
  ),
  ...allDone(
    'integrations.amplitude integrations.ga4 integrations.matomo integrations.mixpanel integrations.plausible',
  ),
  ...allDone('integrations.posthog integrations.segment integrations.umami integrations.cookies'),
  'integrations.gtm': not('a tag manager only loads scripts of other sites'),
  ...Object.fromEntries(
    'adobe clarity clearbit fathom frontchat heap hightouch hotjar intercom logrocket pirsch'
      .split(' ')
      .map((name) => [`integrations.${name}`, not(noScripts)]),
  ),
  'integrations.telemetry': not('nothing about readers is sent to the makers of Bindery'),
};
