import type { FindingTexts } from './finding-text.ts';

/** Findings about links, pictures and other addresses. */
export const linkFindings = {
  'broken-link': {
    severity: 'warning',
    says: 'a link leads to a page or file that does not exist.',
    repair: 'Correct the path, or add a redirect if the page was renamed.',
    example: { file: 'index.mdx', before: 'Read the [guide](/gone).', after: 'Read the [guide](/guide).' },
    others: { 'guide.mdx': '---\ntitle: Guide\n---\n\n## First steps\n\nWords.' },
  },
  'broken-anchor': {
    severity: 'warning',
    says: 'a link leads to a page that lacks the anchor. The message names the most similar anchor of that page.',
    repair: 'Correct the anchor. `--fix` does so if exactly one anchor of the page is nearly the same.',
    example: {
      file: 'index.mdx',
      before: 'Begin with the [first steps](/guide#firsts-steps).',
      after: 'Begin with the [first steps](/guide#first-steps).',
    },
    others: { 'guide.mdx': '---\ntitle: Guide\n---\n\n## First steps\n\nWords.' },
    fix: true,
  },
  'folder-link': {
    severity: 'warning',
    says: 'a link leads to a folder without a page of its own. Readers come to the first page in it.',
    repair: 'Link to a page.',
    example: { file: 'index.mdx', before: 'All [guides](/guides).', after: 'All [guides](/guides/first).' },
    others: { 'guides/first.mdx': '---\ntitle: First\n---\n\nWords.' },
  },
  'link-to-source': {
    severity: 'info',
    says: 'a link names the source file of a page. Readers come to the page, and a link to the file itself works only until the page gets another ending.',
    repair: 'Leave the ending out. `--fix` does so.',
    example: { file: 'index.mdx', before: 'Read the [guide](./guide.mdx).', after: 'Read the [guide](/guide).' },
    others: { 'guide.mdx': '---\ntitle: Guide\n---\n\nWords.' },
    fix: true,
  },
  'link-through-redirect': {
    severity: 'info',
    says: 'a link leads to a path that a redirect of `docs.json` sends to another page of the project.',
    repair: 'Link to the page. `--fix` does so.',
    example: { file: 'index.mdx', before: 'Read the [guide](/old).', after: 'Read the [guide](/guide).' },
    others: {
      'guide.mdx': '---\ntitle: Guide\n---\n\nWords.',
      'docs.json':
        '{ "name": "A", "theme": "mint", "colors": { "primary": "#0f766e" }, "redirects": [{ "source": "/old", "destination": "/guide" }], "navigation": { "pages": ["index", "guide"] } }',
    },
    fix: true,
  },
  'page-moved': {
    severity: 'warning',
    says: 'a page has another path than in the version that `--since` names, and no redirect leads from the old path to the new one. Links of other sites and bookmarks break.',
    repair: 'Add a redirect to `docs.json`. `--fix` does so.',
    fix: true,
  },
  'page-removed': {
    severity: 'info',
    says: 'a page of the version that `--since` names is gone, and no redirect leads from its path to another page.',
    repair: 'Add a redirect to the page that replaces it, if there is one.',
  },
  'missing-file': {
    severity: 'warning',
    says: 'a page shows a picture or another file that the project does not have.',
    repair: 'Add the file, or correct the path.',
    example: {
      file: 'index.mdx',
      before: '![The console](/images/none.svg)',
      after: '![The console](/images/one.svg)',
    },
    others: { 'images/one.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>' },
  },
  'address-not-allowed': {
    severity: 'warning',
    says: 'an address is left out: pages link only to `http`, `https`, `mailto`, `tel` and known programs, and show media only from the project or with `https`.',
    repair: 'Use an allowed address.',
    example: {
      file: 'index.mdx',
      before: '[Run it](javascript:run)',
      after: '[Run it](https://example.com/run)',
    },
  },
  'broken-external-link': {
    severity: 'warning',
    says: 'another site answered with `--external` that the page does not exist (404 or 410), or its host is not found.',
    repair: 'Correct the address, or link to another page.',
  },
  'external-link-moved': {
    severity: 'info',
    says: 'another site answered with `--external` that the page has moved permanently (301 or 308). The message has the new address.',
    repair: 'Link to the new address.',
  },
  'external-link-not-known': {
    severity: 'info',
    says: 'another site did not say with `--external` whether the page exists: it refuses programs (401, 403, 429), failed (5xx), was too slow, or has an address of a private network.',
    repair: 'Open the link in a browser. Addresses of private networks need `--private-addresses`.',
  },
} satisfies FindingTexts;
