import type { FindingTexts } from './finding-text.ts';

/** Findings about `docs.json` and the files of a project as a whole. */
export const configurationFindings = {
  'missing-config': {
    severity: 'error',
    says: 'the folder has neither `docs.json` nor `mint.json`.',
    repair: 'Name the folder that has `docs.json`, or add the file.',
  },
  'bad-config': {
    severity: 'error',
    says: 'the configuration is not a valid JSON object. The message names line and column.',
    repair: 'Correct the JSON: a comma too many, a missing bracket or a missing quotation mark are the usual causes.',
    example: {
      file: 'docs.json',
      before: '{ "name": "Acme", "navigation": { "pages": ["index"] }',
      after: '{ "name": "Acme", "navigation": { "pages": ["index"] } }',
    },
  },
  'config-reference': {
    severity: 'error',
    says: 'a `$ref` in the configuration names no JSON file of the project.',
    repair: 'Name an existing file by its path from the file with the reference.',
    example: {
      file: 'docs.json',
      before: '"navigation": { "$ref": "./navigation/none.json" }',
      after: '"navigation": { "$ref": "./navigation/pages.json" }',
    },
    others: { 'navigation/pages.json': '{ "pages": ["index"] }' },
  },
  'config-cycle': {
    severity: 'error',
    says: 'files of the configuration refer to each other in a circle.',
    repair: 'Remove one of the references.',
    example: {
      file: 'pages.json',
      before: '{ "$ref": "./pages.json" }',
      after: '{ "pages": ["index"] }',
    },
    others: {
      'docs.json':
        '{ "name": "Acme", "theme": "mint", "colors": { "primary": "#0f766e" }, "navigation": { "$ref": "./pages.json" } }',
    },
  },
  'config-too-large': {
    severity: 'error',
    says: 'the configuration is larger than Bindery reads.',
    repair: 'Leave generated parts out, such as lists of redirects that one wildcard can replace.',
  },
  'config-too-deep': {
    severity: 'error',
    says: 'the configuration is nested deeper than Bindery reads.',
    repair: 'Use fewer levels of groups.',
  },
  'project-not-read': {
    severity: 'error',
    says: 'reading the project took too long, or ended the process that reads it.',
    repair: 'Look for a file that is unusually large or deeply nested, such as an API description, and leave it out.',
  },
  'no-pages': {
    severity: 'error',
    says: 'the project has no page.',
    repair: 'Add an `.mdx` file and name it in `navigation`.',
  },
  'missing-setting': {
    severity: 'error',
    says: 'a required setting is missing. Without `name` or `navigation` nothing is published (an error); `theme` and `colors.primary` have defaults (a warning).',
    repair: 'Add the setting that the message names.',
    example: { file: 'docs.json', before: '"theme": null', after: '"theme": "mint"' },
  },
  'bad-setting': {
    severity: 'warning',
    says: 'the value of a setting is not one that the setting can have, so the setting has no effect.',
    repair: 'Write one of the values that the message names.',
    example: {
      file: 'docs.json',
      before: '"colors": { "primary": "teal-ish" }',
      after: '"colors": { "primary": "#0f766e" }',
    },
  },
  'unknown-setting': {
    severity: 'info',
    says: 'the configuration has a key that is no setting, so it has no effect. A misspelt key has a guess in its message.',
    repair: 'Correct the name of the setting, or remove it.',
    example: { file: 'docs.json', before: '"navbarr": { "links": [] }', after: '"navbar": { "links": [] }' },
  },
  'setting-without-effect': {
    severity: 'info',
    says: 'a setting or a frontmatter key of the format changes nothing in Bindery. The message has the reason.',
    repair:
      'Remove it, or keep it for another program. The [format](/reference/format) lists the settings with an effect.',
    example: {
      file: 'docs.json',
      before: '"seo": { "trailingSlash": true }',
      after: '"seo": { "indexing": "navigable" }',
    },
  },
  'unused-integration': {
    severity: 'info',
    says: 'an integration with another service is configured, and pages do not load it.',
    repair: 'Remove the integration, or use one that the [format](/reference/format) lists as supported.',
    example: {
      file: 'docs.json',
      before: '"integrations": { "gtm": { "tagId": "GTM-1" } }',
      after: '"integrations": {}',
    },
  },
  'bad-navigation-entry': {
    severity: 'warning',
    says: 'an entry of the navigation is neither a page nor a group, so it is left out.',
    repair: 'Write the path of a page, or an object with `group` and `pages`.',
    example: {
      file: 'docs.json',
      before: '"navigation": { "pages": ["index", 7] }',
      after: '"navigation": { "pages": ["index"] }',
    },
  },
  'missing-page': {
    severity: 'warning',
    says: 'the navigation names a page that has no file.',
    repair: 'Add the file, correct the path, or remove the entry.',
    example: {
      file: 'docs.json',
      before: '"navigation": { "pages": ["index", "setup"] }',
      after: '"navigation": { "pages": ["index"] }',
    },
  },
  'bad-link': {
    severity: 'warning',
    says: 'a link of the configuration has an address that pages may not link to, so it is left out.',
    repair: 'Write an address with `https://`, or a path that begins with a slash.',
    example: {
      file: 'docs.json',
      before: '"navbar": { "links": [{ "label": "Run", "href": "javascript:run()" }] }',
      after: '"navbar": { "links": [{ "label": "Run", "href": "https://example.com/run" }] }',
    },
  },
  'bad-redirect': {
    severity: 'warning',
    says: 'a redirect cannot work: its source is no path, or its destination is neither a path nor an address with `https`.',
    repair: 'Let both begin with a slash, without anchor and query in the source.',
    example: {
      file: 'docs.json',
      before: '"redirects": [{ "source": "/old", "destination": "ftp://example.com" }]',
      after: '"redirects": [{ "source": "/old", "destination": "/" }]',
    },
  },
  'duplicate-redirect': {
    severity: 'warning',
    says: 'two redirects have the same source; the first one counts.',
    repair: 'Remove one of them.',
    example: {
      file: 'docs.json',
      before: '"redirects": [{ "source": "/a", "destination": "/index" }, { "source": "/a", "destination": "/index" }]',
      after: '"redirects": [{ "source": "/a", "destination": "/index" }]',
    },
  },
  'redirect-hides-page': {
    severity: 'warning',
    says: 'a redirect has the path of a page as its source. The page is shown, and the redirect has no effect.',
    repair: 'Remove the redirect, or the page.',
    example: {
      file: 'docs.json',
      before: '"redirects": [{ "source": "/index", "destination": "https://example.com" }]',
      after: '"redirects": [{ "source": "/start", "destination": "/index" }]',
    },
  },
  'redirect-loop': {
    severity: 'warning',
    says: 'redirects lead to each other in a circle.',
    repair: 'Let one of them lead to a page.',
    example: {
      file: 'docs.json',
      before: '"redirects": [{ "source": "/a", "destination": "/b" }, { "source": "/b", "destination": "/a" }]',
      after: '"redirects": [{ "source": "/a", "destination": "/b" }, { "source": "/b", "destination": "/index" }]',
    },
  },
  'bad-font': {
    severity: 'warning',
    says: 'a font in `fonts` cannot be used: it has no name, or its file is missing or has another format.',
    repair: 'Name the font, and a `.woff2` or `.woff` file of the project.',
    example: {
      file: 'docs.json',
      before: '"fonts": { "family": "Acme", "source": "/fonts/none.woff2" }',
      after: '"appearance": { "default": "system" }',
    },
  },
  'font-without-file': {
    severity: 'warning',
    says: 'a font has no file in the project, so readers see it only if their system has it. Pages load nothing from other sites.',
    repair:
      'Publish with `bindery publish`, which fetches fonts of Google Fonts and those named by an address, or add the font file to the project and name it in `fonts.source`.',
    example: {
      file: 'docs.json',
      before: '"fonts": { "family": "Inter" }',
      after: '"appearance": { "default": "system" }',
    },
  },
  'bad-assistant-file': {
    severity: 'warning',
    says: 'a file with instructions for the assistant is too long, or a skill lacks its name, its description or a valid folder name. The assistant reads the first part of the text, or does without the skill.',
    repair:
      'Shorten the text, or add what the message names. A folder of a skill has lower-case letters, digits and hyphens.',
    example: {
      file: '.mintlify/assistant/skills/migrate/skill.md',
      before: '# Migrate to version 3',
      after:
        '---\nname: Migrate to version 3\ndescription: How to come from version 2, with breaking changes.\n---\n\n# Migrate to version 3',
    },
  },
  'bad-synonyms': {
    severity: 'warning',
    says: 'a list of synonyms in `search` cannot be used.',
    repair: 'Write a list of at least two words or phrases that mean the same.',
    example: {
      file: 'docs.json',
      before: '"search": { "synonyms": [["sign in"]] }',
      after: '"search": { "synonyms": [["sign in", "log in"]] }',
    },
  },
  'unknown-icon': {
    severity: 'warning',
    says: 'no icon of the chosen library has this name, so no icon is shown.',
    repair: 'Use a name of the library in `icons.library`, the path of a picture, or an address.',
    example: {
      file: 'index.mdx',
      before: '<Card title="Start" icon="bolt-of-light-ning" href="/index">Begin here.</Card>',
      after: '<Card title="Start" icon="bolt" href="/index">Begin here.</Card>',
    },
  },
  'bad-path': {
    severity: 'error',
    says: 'a file is left out, because its path does not work on every system: a reserved name, a character that Windows refuses, or too many bytes.',
    repair: 'Rename the file.',
    example: { file: 'con.mdx', before: 'Words of a page.', after: '' },
  },
  'path-collision': {
    severity: 'error',
    says: 'the names of two files differ only in case or in the form of accents, and are the same file on many systems. The second one is left out.',
    repair: 'Rename one of them.',
    example: { file: 'Index.mdx', before: 'Words of a page.', after: '' },
  },
  'name-taken': {
    severity: 'error',
    says: 'a file or page has a name that a bundle needs for a file of its own, so it is left out.',
    repair: 'Rename the file. The words of a page `404` belong into `errors.404` of `docs.json`.',
    example: { file: '404.mdx', before: 'Not here.', after: '' },
  },
  'generated-file-left-out': {
    severity: 'warning',
    says: 'a file of the project stands at the place of a file that is generated, such as `sitemap.xml`, so that one is not generated.',
    repair: 'Rename the file of the project.',
  },
  'page-collision': {
    severity: 'warning',
    says: 'two files would be pages with the same address.',
    repair: 'Rename or remove one of them.',
    example: { file: 'index.md', before: 'Words of a page.', after: '' },
  },
  'file-too-large': {
    severity: 'error',
    says: 'a file has more than 20 MB and is left out.',
    repair: 'Make it smaller, or link to a copy on another site. Videos belong on a video host.',
  },
  'file-not-read': {
    severity: 'error',
    says: 'a file cannot be read. The message has the reason of the system.',
    repair: 'Check the rights of the file.',
  },
  'snippet-cycle': {
    severity: 'error',
    says: 'snippets import each other in a circle. The repeated import is left out.',
    repair: 'Remove one of the imports.',
    example: {
      file: 'snippets/a.mdx',
      before: 'import B from "/snippets/b.mdx"\n\n<B />',
      after: 'Words of a snippet.',
    },
    others: { 'snippets/b.mdx': 'import A from "/snippets/a.mdx"\n\n<A />' },
  },
  'link-of-groups': {
    severity: 'warning',
    says: 'a page with `url` in its frontmatter is only a link in the navigation, and a link cannot be restricted to groups. It is left out.',
    repair: 'Remove `groups`, or put the link on a page of these groups.',
    example: {
      file: 'tool.mdx',
      before: '---\ntitle: Tool\nurl: https://example.com\ngroups: [staff]\n---',
      after: '---\ntitle: Tool\nurl: https://example.com\n---',
    },
  },
  'groups-not-read': {
    severity: 'warning',
    says: 'the `groups` of a page cannot be read, so nobody sees the page.',
    repair: 'Write a list of names.',
    example: {
      file: 'staff.mdx',
      before: '---\ntitle: For staff\ngroups: { staff: yes }\n---',
      after: '---\ntitle: For staff\ngroups: [staff]\n---',
    },
  },
  'more-diagnostics': {
    severity: 'info',
    says: 'there are more problems than are listed.',
    repair: 'Solve the listed ones and check again.',
  },
} satisfies FindingTexts;
