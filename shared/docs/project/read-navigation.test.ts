import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import type { JsonValue } from './json-values.ts';
import type { MadePage } from '#shared/docs/reference/site-reference.ts';
import { readNavigation } from './read-navigation.ts';

/** A reference with pages for the operations of `a.json` only. */
const reference = {
  preset: { names: [], directory: 'api-reference' },
  pageOf: (entry: string) => (entry.endsWith('/none') ? undefined : `api/${entry.split('/').at(-1)}`),
  pagesOfAll: ({ names }: { names: readonly string[] }) =>
    names.includes('a.json')
      ? [
          { title: 'Pets', pages: ['api/pets/list'] },
          { title: undefined, pages: ['api/ping'] },
        ]
      : [],
  filesOf: (operations?: { names: readonly string[] }) => operations?.names.filter((name) => name === 'a.json') ?? [],
  pages: new Map(['api/a', 'api/b'].map((path) => [path, { file: 'a.json' } as MadePage])),
  pagesOfChannels: () => ['api/lights', 'api/alarms'],
};

function read(navigation: JsonValue, missing: string[] = []) {
  const diagnostics: Diagnostic[] = [];
  const pageAt = (named: string): string | undefined => (missing.includes(named) ? undefined : named);
  const report = (found: Diagnostic) => diagnostics.push(found);
  const { nodes, places, addOperations } = readNavigation(navigation, 'docs.json', pageAt, report, reference);
  addOperations(() => undefined);
  return { nodes, places, codes: diagnostics.map(({ code }) => code), diagnostics };
}

describe('navigation', () => {
  it('is required, as an object', () => {
    expect(() => read('index')).toThrow('docs.json has a "navigation" that is not an object. Correct it, for example');
  });

  it('names a group whose name has another key', () => {
    const { nodes, diagnostics } = read({ groups: [{ groups: 'Start', pages: ['a'] }, { pages: ['b'] }] });
    expect(nodes).toHaveLength(2);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      'A group of the navigation has no heading: write "group": "Start" in place of "groups".',
    ]);
  });

  it('nests groups, with roots', () => {
    const { nodes, places, codes } = read({
      groups: [
        {
          group: 'A',
          icon: 'i',
          tag: 'NEW',
          pages: ['/a.mdx', { group: 'B', root: 'b', collapsed: true, pages: ['b/c'] }],
        },
      ],
    });
    expect(nodes).toEqual([
      {
        kind: 'group',
        title: 'A',
        icon: 'i',
        tag: 'NEW',
        hidden: false,
        children: [
          { kind: 'page', path: 'a' },
          {
            kind: 'group',
            title: 'B',
            root: 'b',
            expanded: false,
            hidden: false,
            children: [{ kind: 'page', path: 'b/c' }],
          },
        ],
      },
    ]);
    expect([...places.keys()].sort()).toEqual(['a', 'b', 'b/c']);
    expect(codes).toEqual([]);
  });

  it.each([
    ['tabs', 'tab'],
    ['anchors', 'anchor'],
    ['dropdowns', 'dropdown'],
    ['products', 'product'],
    ['versions', 'version'],
    ['languages', 'language'],
    ['menu', 'item'],
  ])('is divided by %s', (list, kind) => {
    expect(
      read({
        [list]: [
          { [kind]: 'One', default: true, pages: ['a'] },
          { [kind]: 'Two', href: 'https://b.example' },
        ],
      }).nodes,
    ).toEqual([
      {
        kind: 'division',
        division: kind,
        title: 'One',
        isDefault: true,
        hidden: false,
        children: [{ kind: 'page', path: 'a' }],
      },
      {
        kind: 'division',
        division: kind,
        title: 'Two',
        href: 'https://b.example',
        isDefault: false,
        hidden: false,
        children: [],
      },
    ]);
  });

  it('has language, version and visibility of each place', () => {
    const { places } = read({
      languages: [
        {
          language: 'en',
          versions: [
            {
              version: 'v1',
              tabs: [{ tab: 'T', hidden: true, searchable: true, groups: [{ group: 'G', pages: ['a'] }] }],
            },
          ],
        },
        { language: 'fr', pages: ['a', 'fr/b'] },
      ],
    });
    expect(places.get('a')).toMatchObject([
      { hidden: true, searchable: true, language: 'en', version: 'v1' },
      { hidden: false, searchable: undefined, language: 'fr', version: undefined },
    ]);
    expect(places.get('fr/b')).toHaveLength(1);
  });

  it('puts global entries last', () => {
    const { nodes } = read({
      global: { anchors: [{ anchor: 'Forum', href: 'https://f.example' }] },
      tabs: [{ tab: 'T', pages: ['a'] }],
    });
    expect(nodes).toMatchObject([{ division: 'tab' }, { division: 'anchor', href: 'https://f.example' }]);
  });

  it('takes the list of mint.json, links and anchors of pages', () => {
    expect(read([{ group: 'A', pages: ['a#some-part', 'https://a.example/x', '/'] }]).nodes).toMatchObject([
      {
        children: [
          { kind: 'link', title: 'some part', href: '/a#some-part' },
          { kind: 'link', title: 'a.example/x', href: 'https://a.example/x' },
          { kind: 'page', path: 'index' },
        ],
      },
    ]);
  });

  it('has pages made for operations, and for all of them if a node names only an API description', () => {
    const { nodes, places, codes } = read({
      tabs: [
        { tab: 'API', openapi: 'a.json' },
        { tab: 'Mixed', openapi: 'a.json', pages: ['GET /a', 'a.json POST /b', 'GET /none', 'page'] },
      ],
    });
    const pages = (...paths: string[]) => paths.map((path) => ({ kind: 'page', path }));
    expect(nodes).toMatchObject([
      {
        title: 'API',
        children: [{ kind: 'group', title: 'Pets', children: pages('api/pets/list') }, ...pages('api/ping')],
      },
      { title: 'Mixed', children: pages('api/a', 'api/b', 'page') },
    ]);
    expect([...places.keys()]).toEqual(['api/pets/list', 'api/ping', 'api/a', 'api/b', 'page']);
    expect(codes).toEqual([]);
  });

  it('has a page for each channel if a node names an AsyncAPI description', () => {
    const { nodes, places } = read({ groups: [{ group: 'Events', asyncapi: 'b.yaml' }] });
    const children = ['api/lights', 'api/alarms'].map((path) => ({ kind: 'page', path }));
    expect(nodes).toMatchObject([{ title: 'Events', children }]);
    expect([...places.keys()]).toEqual(['api/lights', 'api/alarms']);
  });

  it('leaves out other interface descriptions, with one report each', () => {
    const { nodes, codes } = read({
      tabs: [
        { tab: 'Graph', graphql: 'b.graphql' },
        { tab: 'SDK', sdk: 'c.json' },
      ],
    });
    expect(nodes).toEqual([]);
    expect(codes).toEqual(['api-pages-not-rendered', 'api-pages-not-rendered']);
  });

  it.each([
    ['missing-page', 'gone'],
    ['bad-navigation-entry', '../../etc/passwd'],
    ['bad-navigation-entry', 'a/../../b'],
    ['bad-navigation-entry', 'ok\u0000.md'],
    ['bad-navigation-entry', 'a'.repeat(300)],
    ['bad-navigation-entry', 'x/./y'],
    ['bad-navigation-entry', ' '],
    ['bad-navigation-entry', 7],
    ['bad-link', 'javascript:alert(1)'],
    ['bad-link', 'C:\\windows\\win.ini'],
  ])('refuses with %s: %j', (code, entry) => {
    expect(read({ pages: [entry] }, ['gone'])).toMatchObject({ nodes: [], codes: [code] });
  });

  it('is refused when missing or too deep', () => {
    expect(() => read(null)).toThrow('has no "navigation"');
    let deep: JsonValue = 'a';
    for (let level = 0; level < 40; level += 1) deep = { group: 'g', pages: [deep] };
    expect(() => read({ pages: [deep] })).toThrow('deeper than 32');
  });
});
