import { memoryProject } from '../support/memory-project.ts';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>';
/** Large enough to become a file of the bundle; smaller pictures stay in the page. */
const largeDrawing = drawing.replace('/>', `><desc>${'A long description. '.repeat(300)}</desc></svg>`);

/** Settings of the project with all features. */
export const fullSettings = {
  name: 'Acme',
  theme: 'mint',
  description: 'All about Acme',
  colors: { primary: '#0f766e' },
  favicon: { light: '/light.svg', dark: '/dark.svg' },
  fonts: { family: 'Own', source: '/own.woff2' },
  thumbnails: {},
  styling: { latex: true },
  integrations: { plausible: { domain: 'acme.test' } },
  seo: {
    metatags: {
      canonical: 'https://acme.test/docs',
      'twitter:site': '@acme',
      'theme-color': '#0f766e',
      'article:author': 'Acme',
    },
    organization: { name: 'Acme Inc' },
  },
  navigation: {
    languages: [
      {
        language: 'en',
        groups: [{ group: 'Start', pages: ['guides/first', 'guides/rich', 'changelog'] }],
      },
      { language: 'ja', groups: [{ group: '開始', pages: ['ja/guides/rich', 'ja/guides/plain'] }] },
    ],
  },
  redirects: [
    { source: '/old', destination: '/guides/first' },
    { source: '/wild/*', destination: '/guides/:splat' },
  ],
};

const api = {
  openapi: '3.1.0',
  info: { title: 'Users', version: '1' },
  servers: [{ url: 'https://api.acme.test' }],
  paths: { '/users': { get: { summary: 'List users', responses: { 200: { description: 'The users.' } } } } },
};

/** A small project that uses every feature for which a bundle has a file or a page's head has a tag. */
export const fullProject = memoryProject({
  'docs.json': JSON.stringify(fullSettings),
  'guides/first.mdx': '---\ntitle: First\nopenapi: GET /users\n---\n',
  'guides/rich.mdx': `---
title: Rich
description: "All *features*"
keywords: [one, two]
lastUpdatedDate: 2026-01-02
robots: nofollow
"twitter:title": Short
---

import { Counter } from '/snippets/counter.jsx';

The formula $x^2$ and <span className="mt-4">words</span>.

<style>{\`.own { color: red; }\`}</style>

\`\`\`mermaid
graph LR
A-->B
\`\`\`

![A file](/picture.png)

![An embedded picture](data:image/svg+xml;base64,${Buffer.from(largeDrawing).toString('base64')})

<Counter />

<Update label="v1">
  New.
</Update>
`,
  'ja/guides/rich.mdx': '---\ntitle: 豊\n---\n\n文。\n',
  'ja/guides/plain.mdx': '---\ntitle: 普通\nnoindex: true\n---\n\n文。\n',
  'changelog.mdx': '---\ntitle: News\n---\n\nNothing is new.\n',
  'snippets/counter.jsx':
    'export const Counter = () => {\n  const [count, setCount] = useState(0);\n  return <button onClick={() => setCount(count + 1)}>{count}</button>;\n};\n',
  'api/openapi.json': JSON.stringify(api),
  'picture.png': Buffer.from(pixel, 'base64'),
  'light.svg': drawing,
  'dark.svg': drawing,
  'own.woff2': Buffer.from('wOF2' + '\0'.repeat(60), 'latin1'),
  'own.css': '.own { margin: 0 }\n',
  'own.js': 'window.own = true;\n',
});

/** A project of one page without any setting beyond the required ones. */
export const plainProject = memoryProject({
  'docs.json': JSON.stringify({
    name: 'Plain',
    theme: 'mint',
    colors: { primary: '#0f766e' },
    navigation: { pages: ['index'] },
  }),
  'index.mdx': '---\ntitle: Start\n---\n\nWords.\n',
});
