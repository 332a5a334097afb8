import { docsSchemaFile } from '#shared/docs/format/docs-schema.ts';

/** The three answers that a new project begins with. */
export type StarterAnswers = {
  name: string;
  /** `#rrggbb` */
  colour: string;
  /** True for a reference of an HTTP interface beside the guides. */
  api: boolean;
};

export const defaultColour = '#0f766e';

/** The files of a small project to begin with, by path. They link to nothing outside, so that it also works without a network. */
export function starterProject({ name, colour, api }: StarterAnswers): Map<string, string> {
  const files = new Map<string, string>();
  const guides = [
    { group: 'Get started', pages: ['index', 'quickstart'] },
    { group: 'Guides', pages: ['guides/pages', 'guides/navigation'] },
  ];
  const documentation = { tab: 'Documentation', groups: guides };
  const settings = {
    $schema: `./${docsSchemaFile.name}`,
    theme: 'mint',
    name,
    description: `How to use ${name}.`,
    colors: { primary: colour, light: mixed(colour, 255, 0.45), dark: mixed(colour, 0, 0.15) },
    logo: { light: '/images/logo-light.svg', dark: '/images/logo-dark.svg' },
    favicon: '/images/mark.svg',
    icons: { library: 'lucide' },
    background: { decoration: 'gradient' },
    contextual: { options: ['copy', 'view'] },
    navigation: api
      ? { tabs: [documentation, { tab: 'API', openapi: { source: 'openapi.json', directory: 'api' } }] }
      : { groups: guides },
  };
  files.set('docs.json', `${JSON.stringify(settings, undefined, 2)}\n`);
  files.set('images/logo-light.svg', logo(name, colour, '#0f172a'));
  files.set('images/logo-dark.svg', logo(name, mixed(colour, 255, 0.45), '#f8fafc'));
  files.set('images/mark.svg', mark(name, colour));
  files.set('index.mdx', home(name, api));
  files.set('quickstart.mdx', quickstart);
  files.set('guides/pages.mdx', pagesGuide);
  files.set('guides/navigation.mdx', navigationGuide);
  if (api) files.set('openapi.json', `${JSON.stringify(description(name), undefined, 2)}\n`);
  return files;
}

/** A colour moved towards black (0) or white (255). */
function mixed(colour: string, towards: number, share: number): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return `#${parts
    .map((part) =>
      Math.round(part + (towards - part) * share)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}

const inMarkup = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);

const initialOf = (name: string): string => inMarkup(Array.from(name.trim())[0]?.toUpperCase() ?? 'D');

const square = (initial: string, colour: string): string =>
  `<rect width="32" height="32" rx="8" fill="${colour}"/><text x="16" y="23" text-anchor="middle" font-family="system-ui, sans-serif" font-size="20" font-weight="700" fill="#fff">${initial}</text>`;

const mark = (name: string, colour: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32" viewBox="0 0 32 32">${square(initialOf(name), colour)}</svg>\n`;

function logo(name: string, colour: string, ink: string): string {
  const width = 44 + Math.ceil(name.length * 10.5);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="32" viewBox="0 0 ${width} 32">${square(initialOf(name), colour)}<text x="42" y="22" font-family="system-ui, sans-serif" font-size="18" font-weight="600" fill="${ink}">${inMarkup(name)}</text></svg>\n`;
}

/** Text in MDX. */
const inPage = (text: string): string => text.replaceAll(/[{}<\\*_`[\]]/g, (character) => `\\${character}`);

const home = (name: string, api: boolean): string => `---
title: Welcome
description: ${JSON.stringify(`Everything about ${name}, from the first step on.`)}
---

This is the first page of **${inPage(name)}**. Replace these words with one sentence about what it does, and for whom.

<CardGroup cols={2}>
  <Card title="Quickstart" icon="rocket" href="/quickstart">
    From nothing to the first result in five minutes.
  </Card>
  <Card title="Write pages" icon="pencil" href="/guides/pages">
    Notes, tabs, steps, code and pictures.
  </Card>
  <Card title="Arrange pages" icon="list-tree" href="/guides/navigation">
    Groups, tabs and redirects.
  </Card>${
    api
      ? `
  <Card title="API reference" icon="square-terminal" href="/api/items/list-items">
    Each request with its parameters, and a place to try it.
  </Card>`
      : ''
  }
</CardGroup>
`;

const quickstart = `---
title: Quickstart
description: From nothing to the first result in five minutes.
---

<Steps>
  <Step title="Install it">
    <CodeGroup>

    \`\`\`bash npm
    npm install example
    \`\`\`

    \`\`\`bash pnpm
    pnpm add example
    \`\`\`

    </CodeGroup>
  </Step>
  <Step title="Use it">
    \`\`\`bash
    npx example greet world
    \`\`\`
  </Step>
  <Step title="Look at the result">
    It prints \`Hello, world\`.
  </Step>
</Steps>

<Check>
  That is all. [Write your own pages](/guides/pages) next.
</Check>
`;

const pagesGuide = `---
title: Write pages
description: A page is Markdown with components.
---

A page is a file with Markdown. Its first lines, between two lines of hyphens, give it a title and a description.

## Point out what matters

<Note>
  A note says what helps to know.
</Note>

<Warning>
  A warning says what can go wrong, and how to avoid it.
</Warning>

## Show alternatives

<Tabs>
  <Tab title="macOS">
    Open **Terminal**.
  </Tab>
  <Tab title="Windows">
    Open **PowerShell**.
  </Tab>
</Tabs>

## Explain code

\`\`\`ts greeting.ts {2}
function greet(name: string): string {
  return \`Hello, \${name}\`;
}
\`\`\`

## Keep details out of the way

<Accordion title="Why does a page need a description?">
  Search results, previews of links and language models show it.
</Accordion>

| part | where |
|---|---|
| title and description | the first lines of the page |
| order in the sidebar | [\`docs.json\`](/guides/navigation) |
`;

const navigationGuide = `---
title: Arrange pages
description: The sidebar, tabs and redirects are in docs.json.
---

\`docs.json\` lists the pages of each group of the sidebar, without the ending of their files:

\`\`\`json docs.json
{
  "navigation": {
    "groups": [
      { "group": "Guides", "pages": ["guides/pages", "guides/navigation"] }
    ]
  }
}
\`\`\`

When you rename a page, add a redirect, so that links to its old address lead to the new one:

\`\`\`json docs.json
{
  "redirects": [{ "source": "/old-name", "destination": "/new-name" }]
}
\`\`\`

<Tip>
  \`bindery check\` names links that lead nowhere, with file and line.
</Tip>
`;

const description = (name: string): object => ({
  openapi: '3.1.0',
  info: { title: `${name} API`, version: '1.0.0', description: `The HTTP interface of ${name}.` },
  servers: [{ url: 'https://api.example.com' }],
  security: [{ key: [] }],
  tags: [{ name: 'Items' }],
  paths: {
    '/items': {
      get: {
        operationId: 'listItems',
        tags: ['Items'],
        summary: 'List items',
        description: 'Returns the newest items first.',
        parameters: [
          {
            name: 'limit',
            in: 'query',
            description: 'The number of items at most.',
            schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
          },
        ],
        responses: {
          200: {
            description: 'The items.',
            content: {
              'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Item' } } },
            },
          },
        },
      },
    },
  },
  components: {
    securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    schemas: {
      Item: {
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'string', description: 'Identifies the item.', examples: ['item_1'] },
          name: { type: 'string', description: 'Its name for people.', examples: ['A first item'] },
        },
      },
    },
  },
});
