const page = 'text\n';
const docsJson = (settings: object): string =>
  JSON.stringify({ name: 'Hostile', theme: 'mint', colors: { primary: '#000000' }, ...settings });

/** Pages whose names are equal on some systems, or as an address. */
const collidingPages = {
  'index.mdx': page,
  'Index.mdx': page,
  'dir.mdx': page,
  'dir/index.mdx': page,
  'caf\u00e9.mdx': page,
  'cafe\u0301.mdx': page,
};

/** Navigation in which only the first entry names a page. */
export const projectOfBadEntries: Record<string, string> = {
  ...collidingPages,
  'docs.json': docsJson({
    navigation: {
      groups: [
        {
          group: 'Entries',
          pages: [
            'index',
            '../../etc/passwd',
            '/etc/../../passwd',
            '..\\..\\windows\\system.ini',
            'nul\u0000byte',
            'a'.repeat(2_000),
            'con',
            'javascript:alert(1)',
            { group: 'Inner', pages: ['https://example.invalid', 'data:text/html,x', 7, null] },
          ],
        },
      ],
      global: { anchors: [{ anchor: 'Runs', href: 'javascript:alert(2)' }] },
    },
    navbar: { links: [{ label: 'Runs', href: ' java\tscript:alert(3)' }] },
    redirects: [
      { source: '/a', destination: '/b' },
      { source: '/b', destination: '/a' },
      { source: '/c', destination: '//example.invalid' },
      { source: '/d', destination: 'javascript:alert(4)' },
    ],
  }),
};

/** A configuration with this number of nested groups. */
export function projectOfLevels(levels: number): Record<string, string> {
  const pages = `${'[{"group":"g","pages":'.repeat(levels)}["index"]${'}]'.repeat(levels)}`;
  return { ...collidingPages, 'docs.json': `{"name":"Deep","navigation":{"pages":${pages}}}` };
}

export const projectOfItself: Record<string, string> = {
  ...collidingPages,
  'docs.json': '{"name":"Circle","navigation":{"$ref":"./navigation.json"}}',
  'navigation.json': '{"pages":{"$ref":"navigation.json"}}',
};

const fanLevels = 8;
const fanWidth = 10;

/** Two snippets that import each other, and a chain of nine snippets that include the next one ten times each: 10^8 leaves. */
const snippets: Record<string, string> = {
  'snippets/circle-a.mdx': 'import B from "/snippets/circle-b.mdx"\n\n<B />\n',
  'snippets/circle-b.mdx': 'import A from "/snippets/circle-a.mdx"\n\n<A />\n',
  ...Object.fromEntries(
    Array.from({ length: fanLevels + 1 }, (_, level) => [
      `snippets/fan-${level}.mdx`,
      level === fanLevels
        ? 'leaf\n'
        : `import Next from "/snippets/fan-${level + 1}.mdx"\n\n${'<Next />\n\n'.repeat(fanWidth)}`,
    ]),
  ),
};

export const snippetCount: number = Object.keys(snippets).length;

export const projectOfSnippets: Record<string, string> = {
  ...snippets,
  'docs.json': docsJson({ navigation: { pages: ['a'] } }),
  'a.mdx': 'import A from "/snippets/circle-a.mdx"\nimport F from "/snippets/fan-0.mdx"\n\n<A />\n\n<F />\n',
};
