import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SearchIndex, SearchPage, SearchScope } from './search-index.ts';

const scopeOf = (organization: string, contentVersion: string): SearchScope => ({
  organization,
  domain: 'docs',
  contentVersion,
});

const page = (path: string, title: string, text: string, more: Partial<SearchPage> = {}): SearchPage => ({
  path,
  title,
  names: [],
  keywords: [],
  groups: [],
  boost: 1,
  key: path,
  links: [],
  markdown: `# ${title}\n`,
  passages: [{ anchor: '', heading: '', text }],
  ...more,
});

async function fill(index: SearchIndex, scope: SearchScope, pages: SearchPage[]): Promise<number> {
  const build = await index.startBuild(scope);
  await build.add(pages);
  return build.commit();
}

/** Title and text by path. Each page with something to paste has a second page with the same words. */
const pastedPages: Record<string, [title: string, text: string]> = {
  memory: ['Memory', 'Start Node with --max-old-space-size=4096 when it runs out of memory.'],
  sizes: ['Maximum size', 'The maximum size of a space. Old spaces keep their size. Max size of an old space.'],
  modules: ['Missing modules', 'Node reports ERR_MODULE_NOT_FOUND when a package is not installed.'],
  missing: [
    'Module not found',
    'When a module is not found, an error is shown. To err is human: a module was not found.',
  ],
  job: ['Read a job', 'GET /v1/jobs/{jobId} answers the status of one job.'],
  jobs: ['List jobs', 'GET /v1/jobs lists the jobs. Jobs have ids. A job id begins with j.'],
  hook: ['The hook', 'Call useChat in a component of React.'],
  chat: ['Use the chat', 'You use the chat to use chat. How to use a chat: use it, chat.'],
  limits: ['Budgets', 'BINDERY_LIMIT_TOKENS_PER_DAY bounds what a plan may spend.'],
  days: ['Limits per day', 'A limit of tokens per day. Tokens of the day. Limit per token, each day.'],
  headers: ['Headers', 'The answer has X-Thread-Id and X-Thread-Key.'],
  threads: ['Threads', 'A thread has an id and a key. The thread id. The key of a thread.'],
  package: ['Packages', 'Install @acme/docs-theme from the registry.'],
  theme: ['Themes of docs', 'Docs have a theme. Acme docs. A theme for docs.'],
  retries: ['Retries', 'Deliveries that fail are tried again for three days.'],
  tries: ['Three tries', 'Days go by. Deliveries are tried for three reasons. Again, three days that fail, tried.'],
  files: ['Files', 'Put it into docs.json or config/app.yaml.'],
};

const pastedQueries: [query: string, path: string][] = [
  ...['--max-old-space-size', '`--max-old-space-size`', '--max-old-space-size=8192', 'node --max-old-space-size.'].map(
    (query): [string, string] => [query, 'memory'],
  ),
  ...['max_old_space_size', 'maxOldSpaceSize'].map((query): [string, string] => [query, 'memory']),
  ...['ERR_MODULE_NOT_FOUND', '"ERR_MODULE_NOT_FOUND"', "'ERR_MODULE_NOT_FOUND',", 'err_module_not_found'].map(
    (query): [string, string] => [query, 'modules'],
  ),
  ['Error [ERR_MODULE_NOT_FOUND]: Cannot find package', 'modules'],
  ...['/v1/jobs/{id}', 'GET /v1/jobs/{jobId}', '/v1/jobs/:jobId', '/v1/jobs/<id>', '/v1/jobs/{id}/?'].map(
    (query): [string, string] => [query, 'job'],
  ),
  ['curl https://api.acme.com/v1/jobs/j_8Zx3?x=1', 'job'],
  ['/v1/jobs', 'jobs'],
  ...['useChat', 'useChat()', '`useChat`', 'usechat', 'const { messages } = useChat();'].map(
    (query): [string, string] => [query, 'hook'],
  ),
  ...['BINDERY_LIMIT_TOKENS_PER_DAY', '$BINDERY_LIMIT_TOKENS_PER_DAY', 'BINDERY_LIMIT_TOKENS_PER_DAY=5'].map(
    (query): [string, string] => [query, 'limits'],
  ),
  ['LIMIT_TOKENS_PER_DAY', 'limits'],
  ['X-Thread-Id', 'headers'],
  ['x-thread-id:', 'headers'],
  ['@acme/docs-theme', 'package'],
  ['"tried again for three days"', 'retries'],
  ['“Tried again for  three days”', 'retries'],
  ['docs.json?', 'files'],
  ['config/app.yaml', 'files'],
];

/** Tests that every search index must pass. `open` returns an empty one, with a function that opens a second one over the same storage. */
export function searchIndexContract(
  open: () => Promise<{ index: SearchIndex; reopen: () => SearchIndex; end: () => Promise<void> }>,
): void {
  describe('search index', () => {
    let opened: Awaited<ReturnType<typeof open>>;
    let index: SearchIndex;
    const scope = scopeOf('acme', 'cv_1');
    const paths = async (query: string, more: object = {}): Promise<string[]> =>
      (await index.search({ ...scope, query, limit: 10, ...more })).map((found) => found.path);

    beforeAll(async () => {
      opened = await open();
      index = opened.index;
      const count = await fill(index, scope, [
        page('guides/webhooks', 'Webhooks', 'Events arrive as a POST request.', {
          passages: [
            { anchor: '', heading: '', text: 'Events arrive as a POST request.' },
            { anchor: 'retries', heading: 'Retries', text: 'Deliveries that fail are tried again for three days.' },
          ],
        }),
        page('v1/billing', 'Billing', 'Invoices are sent monthly.', { version: 'v1' }),
        page('v2/billing', 'Billing', 'Invoices are sent weekly.', { version: 'v2' }),
        page('fr/factures', 'Facturation', 'Les factures arrivent chaque mois.', { language: 'fr' }),
        page('zh/start', '快速开始', '安装命令行工具后即可发布文档。', { language: 'zh' }),
        page('internal/runbook', 'Runbook', 'Rotate the signing secret every quarter.', { groups: ['staff'] }),
        page(
          'cli',
          'Command line',
          'Pass --max-old-space-size when ERR_MODULE_NOT_FOUND is reported by GET /v1/jobs/{jobId}.',
          {
            links: [{ to: 'guides/webhooks', text: 'Instant notifications' }],
          },
        ),
        page('internal/plans', 'Plans', 'Nothing yet.', {
          groups: ['staff'],
          tag: 'plans',
          links: [{ to: 'guides/webhooks', text: 'Project bluebird' }],
        }),
        page('sdk', 'SDK', 'Set retrievalPageSize to five.', {
          tag: 'api',
          names: ['Language bindings'],
          keywords: ['client library'],
        }),
      ]);
      expect(count).toBe(10);
    });
    afterAll(() => opened.end());

    test('finds a section by its words in any form, with its place', async () => {
      const [found] = await index.search({ ...scope, query: 'How is a failed delivery retried?', limit: 3 });
      expect(found).toMatchObject({
        path: 'guides/webhooks',
        anchor: 'retries',
        title: 'Webhooks',
        heading: 'Retries',
        text: 'Deliveries that fail are tried again for three days.',
      });
      expect(found?.score).toBeGreaterThan(0);
      expect(found?.score).toBeLessThanOrEqual(1);
      expect(found?.coverage).toBeGreaterThan(0.5);
      expect(found?.coverage).toBeLessThanOrEqual(1);
    });

    test('finds parts of compound names, keywords, and words of scripts without spaces', async () => {
      expect(await paths('page size')).toContain('sdk');
      expect(await paths('client libraries')).toEqual(['sdk']);
      expect(await paths('发布文档')).toEqual(['zh/start']);
    });

    test('finds a page by another name of it as by its title', async () => {
      const [found] = await index.search({ ...scope, query: 'language bindings', limit: 1, explain: true });
      expect(found).toMatchObject({ path: 'sdk', title: 'SDK' });
      expect(found?.explanation?.signals['exactTitle']).toBeGreaterThan(0);
    });

    test('finds a page by the words of links to it, unless the page with the link is left out or hidden from the reader', async () => {
      expect((await paths('instant notifications'))[0]).toBe('guides/webhooks');
      expect(await paths('instant notifications', { exclude: ['cli'] })).toEqual([]);
      expect(await paths('bluebird')).toEqual([]);
      expect(await paths('bluebird', { filter: { groups: ['staff'] } })).toEqual(['guides/webhooks']);
    });

    test('finds flags, codes, paths and names as people paste them', async () => {
      for (const query of ['--max-old-space-size', 'ERR_MODULE_NOT_FOUND', '/v1/jobs/{id}', 'GET /v1/jobs/{jobId}'])
        expect([query, (await paths(query))[0]]).toEqual([query, 'cli']);
      expect((await paths('retrievalPageSize'))[0]).toBe('sdk');
    });

    test('ranks pages with the pasted text before pages with the same words', async () => {
      const pasted = scopeOf('acme', 'cv_pasted');
      await fill(
        index,
        pasted,
        Object.entries(pastedPages).map(([path, [title, text]]) => page(path, title, text)),
      );
      const first: [string, string | undefined][] = [];
      for (const [query] of pastedQueries)
        first.push([query, (await index.search({ ...pasted, query, limit: 1 }))[0]?.path]);
      expect(first).toEqual(pastedQueries);
      const [found] = await index.search({ ...pasted, query: '--max-old-space-size', limit: 1, explain: true });
      expect(found?.explanation?.signals['exact']).toBeGreaterThan(0);
    });

    test('finds words with a typing error, and words of documentation that mean the same', async () => {
      expect((await paths('webhoks'))[0]).toBe('guides/webhooks');
      expect((await paths('retrievalPgaeSize'))[0]).toBe('sdk');
      expect((await paths('terminal'))[0]).toBe('cli');
    });

    test("a version's own synonyms work in that version only", async () => {
      const pages = [
        page('spaces', 'Workspaces', 'A workspace holds projects.'),
        page('other', 'Other', 'Plain words.'),
      ];
      const synonyms = [
        ['workspace', 'team room'],
        ['libSQL', 'projects'],
      ];
      const [own, plain, next] = ['cv_syn', 'cv_nosyn', 'cv_nextsyn'].map((version) => scopeOf('acme', version)) as [
        SearchScope,
        SearchScope,
        SearchScope,
      ];
      const foreign = scopeOf('globex', 'cv_syn');
      const publish = async (to: SearchScope, own: readonly (readonly string[])[] | undefined, from?: string) => {
        const build = await index.startBuild(to, { from, synonyms: own });
        await build.add(pages.filter(({ path }) => !build.known.has(path)));
        await build.keep([...build.known.keys()]);
        await build.commit();
      };
      await publish(own, synonyms);
      await publish(plain, undefined, own.contentVersion);
      await publish(next, [['lounge', 'workspace']], own.contentVersion);
      await publish(foreign, [['hall', 'workspace']]);
      const found = async (where: SearchScope, query: string): Promise<string[]> =>
        (await index.search({ ...where, query, limit: 9 })).map(({ path }) => path);
      const reader = opened.reopen();
      expect(await reader.search({ ...own, query: 'room for my team', limit: 1 })).toEqual([]);
      expect(await reader.search({ ...own, query: 'our team room', limit: 1 })).toMatchObject([{ path: 'spaces' }]);
      await reader.close();
      expect(await found(own, 'libsql')).toEqual(['spaces']);
      for (const query of ['team room', 'libSQL']) {
        expect([query, await found(plain, query)]).toEqual([query, []]);
        expect([query, await found(next, query)]).toEqual([query, []]);
        expect([query, await found(foreign, query)]).toEqual([query, []]);
      }
      expect(await found(next, 'lounge')).toEqual(['spaces']);
      expect(await found(own, 'lounge')).toEqual([]);
      expect(await found(own, 'hall')).toEqual([]);
      // After a build without synonyms, none is left.
      await publish(own, undefined);
      expect(await found(own, 'team room')).toEqual([]);
    });

    test('explains a score on request', async () => {
      const [found] = await index.search({ ...scope, query: 'instant notifications', limit: 1, explain: true });
      expect(found?.explanation?.signals).toMatchObject({ bestLink: expect.any(Number) });
      expect(found?.explanation?.words.map(({ word }) => word)).toEqual(['instant', 'notif']);
      expect((await index.search({ ...scope, query: 'invoices', limit: 1 }))[0]).not.toHaveProperty('explanation');
    });

    test('operators and quotes of query languages are words', async () => {
      for (const query of [
        '"',
        'NOT invoices',
        'a AND (',
        'title:webhooks*',
        'x\u0000y',
        "'; DROP TABLE pages; --",
        '^{"a":1}',
        '',
        'webhooks '.repeat(1_200),
        '.*?(a|b)+$ [[:alpha:]]{2,} /^x/',
        '!!! ??? ... ---',
        'broken \ud800 halves \udfff',
        '\u202eskoohbew\u202c مرحبا بالعالم',
      ]) {
        await expect(index.search({ ...scope, query, limit: 5 })).resolves.toBeInstanceOf(Array);
      }
      expect(await paths('NOT invoices')).toContain('v1/billing');
    });

    test('a question of stop words alone still finds nothing but does not fail', async () => {
      expect(await paths('what is it')).toEqual(expect.any(Array));
    });

    test('version and language exclude pages of others, but not those of all', async () => {
      expect(await paths('invoices sent events', { filter: { version: 'v2' } })).toEqual(
        expect.arrayContaining(['v2/billing', 'guides/webhooks']),
      );
      expect(await paths('invoices', { filter: { version: 'v2' } })).toEqual(['v2/billing']);
      expect(await paths('factures', { filter: { language: 'zh' } })).toEqual([]);
    });

    test('a filter value that no page has finds nothing', async () => {
      expect(await paths('invoices events', { filter: { version: 'v9' } })).toEqual([]);
      expect(await paths('invoices events', { filter: { language: 'tlh' } })).toEqual([]);
      expect(await paths('sdk events', { filter: { tag: 'none' } })).toEqual([]);
      expect(await paths('retrievalPageSize', { filter: { tag: 'api' } })).toEqual(['sdk']);
    });

    test('pages of groups are found by their readers only', async () => {
      expect(await paths('signing secret')).toEqual([]);
      expect(await paths('signing secret', { filter: { groups: ['sales'] } })).toEqual([]);
      expect(await paths('signing secret', { filter: { groups: ['sales', 'staff'] } })).toEqual(['internal/runbook']);
      expect(await index.findPage(scope, 'internal/runbook', [])).toBeUndefined();
      expect(await index.findPage(scope, 'internal/runbook', ['staff'])).toMatchObject({ title: 'Runbook' });
      expect(await index.findPage(scope, 'guides/webhooks', [])).toMatchObject({
        path: 'guides/webhooks',
        title: 'Webhooks',
        markdown: '# Webhooks\n',
      });
      expect(await index.findPage(scope, 'nowhere', ['staff'])).toBeUndefined();
    });

    test('pages are listed in their order for the groups of a reader, in parts, also in a version that reuses some', async () => {
      const own = { ...scope, contentVersion: 'listed' };
      const names = ['a/1', 'a/2', 'a%b', 'ab', 'b', 'é', 'z'];
      await fill(index, own, [
        ...names.map((path) => page(path, path.toUpperCase(), 'Words.')),
        page('a/secret', 'Secret', 'Words.', { groups: ['staff', 'board'] }),
      ]);
      const listed = async (under: string, groups: readonly string[], limit = 3, of = own) => {
        const paths: string[] = [];
        for (let after = ''; ; after = paths.at(-1) ?? '') {
          const some = await index.pagesAfter(of, { after, under, limit }, groups);
          paths.push(...some.map(({ path }) => path));
          if (some.length < limit) return paths;
        }
      };
      const sorted = ['a%b', 'a/1', 'a/2', 'ab', 'b', 'z', 'é'];
      expect(await listed('', [])).toEqual(sorted);
      expect(await listed('', ['sales'], 1)).toEqual(sorted);
      expect(await listed('a/', ['staff', 'board'])).toEqual(['a/1', 'a/2', 'a/secret']);
      expect(await listed('a%', [])).toEqual(['a%b']);
      expect(await listed('nowhere/', ['staff'])).toEqual([]);
      const later = { ...scope, contentVersion: 'listed-later' };
      const build = await index.startBuild(later, { from: own.contentVersion });
      const taken = [...build.known.keys()].filter((path) => path !== 'ab' && path !== 'b');
      await build.keep(taken);
      await build.add(['b', 'c'].map((path) => page(path, 'Later', 'Other words.')));
      await build.commit();
      expect(await listed('', [], 3, later)).toEqual(
        [...taken.filter((path) => path !== 'a/secret'), 'b', 'c'].sort((a, b) => (a < b ? -1 : 1)),
      );
      expect(await index.pagesAfter(later, { after: 'a/2', under: '', limit: 1 }, [])).toMatchObject([
        { markdown: expect.stringMatching(/^# /) },
      ]);
      expect(await index.pagesAfter(scopeOf('acme', 'cv_none'), { after: '', under: '', limit: 1 }, [])).toEqual([]);
    });

    test('a page is stored for agents and for people, also in a later version that reuses it', async () => {
      const own = { ...scope, contentVersion: 'read-by-both' };
      await fill(index, own, [
        page('same', 'Same', 'For both.'),
        page('other', 'Other', 'For one.', { peoplesMarkdown: '# Other\n\nFor people.\n' }),
      ]);
      const later = { ...scope, contentVersion: 'read-by-both-later' };
      const build = await index.startBuild(later, { from: own.contentVersion });
      const taken = [...build.known.keys()];
      await build.keep(taken);
      await build.add([page('new', 'New', 'Of the later one.')]);
      await build.commit();
      for (const version of taken.length === 0 ? [own] : [own, later]) {
        expect(await index.findPage(version, 'same', [])).toMatchObject({ peoplesMarkdown: '# Same\n' });
        expect(await index.findPage(version, 'other', [])).toMatchObject({
          markdown: '# Other\n',
          peoplesMarkdown: '# Other\n\nFor people.\n',
        });
      }
    });

    test("the reader's own version comes first", async () => {
      expect((await paths('billing invoices', { near: 'v1/billing' }))[0]).toBe('v1/billing');
      expect((await paths('billing invoices', { near: 'v2/billing' }))[0]).toBe('v2/billing');
    });

    test('excluded pages are not found, and limits are kept', async () => {
      expect(await paths('billing', { exclude: ['v1/billing'] })).toEqual(['v2/billing']);
      expect(await paths('billing', { limit: 1 })).toHaveLength(1);
      expect(await paths('webhooks events deliveries', { passagesPerPage: 1 })).toEqual(['guides/webhooks']);
    });

    test('a language filters nothing if no page has one', async () => {
      const plain = scopeOf('acme', 'cv_plain');
      await fill(index, plain, [page('a', 'A', 'plain words')]);
      expect(await index.search({ ...plain, query: 'words', limit: 5, filter: { language: 'en' } })).toHaveLength(1);
      expect(await index.search({ ...plain, query: 'words', limit: 5, filter: { version: 'v1' } })).toEqual([]);
    });

    test('a build on an earlier version equals one from nothing', async () => {
      const [first, second, fresh] = ['cv_a', 'cv_b', 'cv_c'].map((version) => scopeOf('acme', version)) as [
        SearchScope,
        SearchScope,
        SearchScope,
      ];
      const start = page('start', 'Start', 'common words of the start', { links: [{ to: 'next', text: 'Onwards' }] });
      const next = page('next', 'Next', 'common words of the next');
      const changed = page('next', 'Next', 'wholly different words', { key: 'next 2' });
      await fill(index, first, [start, next, page('gone', 'Gone', 'common words that go')]);
      const build = await index.startBuild(second, { from: first.contentVersion });
      const kept = [start, changed].filter(({ path, key }) => build.known.get(path) === key);
      expect(kept).toEqual([start]);
      await build.add([start, changed].filter((one) => !kept.includes(one)));
      await build.keep(kept.map(({ path }) => path));
      expect(await build.commit()).toBe(2);
      await fill(index, fresh, [start, changed]);
      for (const query of ['common words', 'different words', 'onwards', 'go', 'next', 'wrods']) {
        const found = await index.search({ ...second, query, limit: 9, explain: true });
        expect(found).toEqual(await index.search({ ...fresh, query, limit: 9, explain: true }));
      }
      expect(await index.search({ ...first, query: 'common words', limit: 9 })).toHaveLength(3);
    });

    test('a long line of builds, each on the previous one, equals builds from nothing, whichever of them are removed', async () => {
      const pagesOf = (round: number): SearchPage[] =>
        Array.from({ length: 40 + round }, (_, at) => {
          // Some pages change in every round, some in one, and one is removed and added again in turns.
          const changed = at % 13 === round % 13 ? round : at < 3 ? round : at < 20 ? Math.floor(round / 6) : 0;
          const links = [{ to: `p/${(at + 1) % 40}`, text: `Onward${at} number${changed}` }];
          return page(`p/${at}`, `Page ${at}`, `common words of ${at} in edition${changed}`, {
            ...{ key: `${at} ${changed}`, links, groups: at % 7 === 0 ? ['staff'] : [], tag: `t${changed}` },
          });
        }).filter((_, at) => at !== 20 + (round % 5));
      const rounds = 13;
      const line = Array.from({ length: rounds }, (_, round) => scopeOf('acme', `cv_line_${round}`));
      const fresh = scopeOf('acme', 'cv_line_fresh');
      for (const [round, scope] of line.entries()) {
        // The last build is based on a much earlier version, as after a revert.
        const from = round === 0 ? undefined : line[round === rounds - 1 ? 3 : round - 1]?.contentVersion;
        const build = await index.startBuild(scope, { from });
        const isKept = ({ path, key }: SearchPage) => build.known.get(path) === key;
        await build.add(pagesOf(round).filter((one) => !isKept(one)));
        const kept = pagesOf(round).filter(isKept);
        await build.keep(kept.map(({ path }) => path));
        expect(await build.commit()).toBe(pagesOf(round).length);
        expect([round, kept.length > 0]).toEqual([round, round > 0]);
      }
      const queries = ['common words', 'edition0', 'onward25', 'page 21', 'wrods'];
      const expectAll = async (rounds: readonly number[]): Promise<void> => {
        for (const round of rounds) {
          await fill(index, fresh, pagesOf(round));
          const scope = line[round] ?? fresh;
          expect(await index.facets(scope)).toEqual(await index.facets(fresh));
          for (const query of queries)
            for (const filter of [{}, { groups: ['staff'] }, { tag: 't1' }]) {
              const asked = { query, filter, limit: 60, explain: true, near: 'p/22' };
              expect(await index.search({ ...scope, ...asked })).toEqual(await index.search({ ...fresh, ...asked }));
            }
          const gone = await index.findPage(scope, `p/${20 + (round % 5)}`, ['staff']);
          expect([round, gone, await index.findPage(scope, 'p/2', [])]).toMatchObject([
            round,
            undefined,
            { path: 'p/2' },
          ]);
        }
      };
      await expectAll([0, 7, 12]);
      for (const round of [0, 6, 12]) await index.remove(line[round] ?? fresh);
      await expectAll([1, 11]);
      for (const scope of [...line, fresh]) await index.remove(scope);
      for (const scope of line) expect(await index.passageCount(scope)).toBeUndefined();
    });

    test('lists the filter values, and the public ones', async () => {
      const open = { versions: ['v1', 'v2'], languages: ['fr', 'zh'], tags: ['api'] };
      expect(await index.facets(scope)).toEqual({ ...open, tags: ['api', 'plans'], open });
      expect(await index.facets(scopeOf('acme', 'cv_none'))).toBeUndefined();
    });

    test('a version appears only when it is complete, to other processes too', async () => {
      const fresh = scopeOf('acme', 'cv_2');
      const reader = opened.reopen();
      const build = await index.startBuild(fresh);
      await build.add([page('new', 'New', 'unfinished words')]);
      expect(await reader.passageCount(fresh)).toBeUndefined();
      expect(await reader.search({ ...fresh, query: 'unfinished', limit: 5 })).toEqual([]);
      expect(await build.commit()).toBe(1);
      expect(await reader.passageCount(fresh)).toBe(1);
      expect(await reader.search({ ...fresh, query: 'unfinished', limit: 5 })).toHaveLength(1);
      await reader.close();
    });

    test('a version that is built again is replaced at once; an abandoned build changes nothing', async () => {
      const replaced = scopeOf('acme', 'cv_3');
      await fill(index, replaced, [page('a', 'A', 'first words')]);
      const build = await index.startBuild(replaced);
      await build.add([page('b', 'B', 'second words')]);
      expect(await index.search({ ...replaced, query: 'words', limit: 5 })).toMatchObject([{ path: 'a' }]);
      await build.abandon();
      expect(await index.search({ ...replaced, query: 'words', limit: 5 })).toMatchObject([{ path: 'a' }]);
      await fill(index, replaced, [page('c', 'C', 'third words')]);
      expect(await index.search({ ...replaced, query: 'words', limit: 5 })).toMatchObject([{ path: 'c' }]);
    });

    test('a publication in the middle of 1,000 searches: every answer is wholly old or wholly new', async () => {
      const pages = (kind: string): SearchPage[] =>
        Array.from({ length: 12 }, (_, at) => ({
          ...page(`pages/${at}`, `Page ${at}`, ''),
          key: `${kind} ${at}`,
          passages: [0, 1].map((part) => ({
            anchor: `part-${part}`,
            heading: '',
            text: `${kind} passage ${at} ${part}`,
          })),
        }));
      const before = scopeOf('acme', 'cv_before');
      const after = scopeOf('acme', 'cv_after');
      await fill(index, before, pages('old'));
      const reader = opened.reopen();
      const kinds: string[] = [];
      let searched = before;
      let left = 1_000;
      const isPublished = new AbortController();
      let hasBegun = (): void => {};
      const begun = new Promise<void>((resolve) => {
        hasBegun = resolve;
      });
      const searches = Array.from({ length: 4 }, async () => {
        while (left > 0 || !isPublished.signal.aborted) {
          left -= 1;
          if (left < 900) hasBegun();
          const found = await reader.search({ ...searched, query: 'passage', limit: 50 });
          const ofAnswer = new Set(found.map(({ text }) => text.split(' ')[0] ?? ''));
          expect([found.length, ofAnswer.size]).toEqual([24, 1]);
          kinds.push(...ofAnswer);
        }
      });
      const publish = async () => {
        await begun;
        const build = await index.startBuild(after, { from: before.contentVersion });
        await build.add(pages('new'));
        await build.commit();
        searched = after;
        // The searched version is rebuilt, as after damage.
        await fill(index, after, pages('newer'));
      };
      const published = publish().finally(() => isPublished.abort());
      await Promise.all([...searches, published]);
      expect(kinds.length).toBeGreaterThanOrEqual(1_000);
      expect(new Set(kinds)).toContain('old');
      const [last] = await reader.search({ ...searched, query: 'passage', limit: 1 });
      expect(last?.text).toMatch(/^newer /);
      await reader.close();
    });

    test('organizations, domains and versions do not see each other', async () => {
      await fill(index, scopeOf('globex', 'cv_1'), [page('secret', 'Secret', 'globex words')]);
      expect(await paths('globex')).toEqual([]);
      await index.remove(scopeOf('globex', 'cv_1'));
      await index.remove(scopeOf('globex', 'cv_1'));
      expect(await index.passageCount(scopeOf('globex', 'cv_1'))).toBeUndefined();
      expect(await index.search({ ...scopeOf('globex', 'cv_1'), query: 'globex', limit: 5 })).toEqual([]);
      expect(await paths('webhooks')).toContain('guides/webhooks');
    });

    test('an empty version is indexed and finds nothing', async () => {
      const empty = scopeOf('acme', 'cv_empty');
      expect(await fill(index, empty, [])).toBe(0);
      expect(await index.passageCount(empty)).toBe(0);
      expect(await index.search({ ...empty, query: 'anything', limit: 5 })).toEqual([]);
    });
  });
}
