import pino from 'pino';
import { expect, test } from 'vitest';
import { ChildDied, ChildTimedOut } from '#shared/docs/sandbox/child.ts';
import { localChildren } from '../../test/support/local-children.ts';
import { cutPages } from './cut-pages.ts';
import { groupsOf } from './site-pages.ts';
import { type CutRequest, readAndCut } from './read-page.ts';

const scope = { organization: 'acme', domain: 'docs', contentVersion: 'cv_1' };
const page = (file: string, source: string) => ({
  file,
  source,
  dependencies: { 'snippets/x.mdx': 'from a snippet' },
  title: file,
  variables: {},
});

/** Children that read pages, and fail where `fault` returns an error. */
function testPool(fault: (request: CutRequest) => Error | undefined = () => undefined) {
  const asked: string[] = [];
  const pool = localChildren((request) => {
    const { pages, texts } = request as CutRequest;
    asked.push(`${pages.map(({ file, parser = '' }) => file + parser).join(' ')}, ${Object.keys(texts).length} texts`);
    const failure = fault(request as CutRequest);
    if (failure !== undefined) throw failure;
    return readAndCut(request as CutRequest);
  });
  return { asked, context: { pool, logger: pino({ level: 'silent' }) } };
}

const passagesOf = async (
  { context }: ReturnType<typeof testPool>,
  pages: Parameters<typeof cutPages>[2],
): Promise<(string | undefined)[]> => {
  const cut = await cutPages(context, scope, pages, new AbortController().signal);
  return cut.map((one) => one?.passages.map(({ text }) => text).join(' '));
};

const one = page('1.mdx', 'One.');
const two = page('2.mdx', "import X from '/snippets/x.mdx'\n\nTwo <X />.");

test('pages are read by one request, with what they have in common once', async () => {
  const pool = testPool();
  expect(await passagesOf(pool, [one, two])).toEqual(['One.', expect.stringContaining('from a snippet')]);
  expect(pool.asked).toEqual(['1.mdx 2.mdx, 1 texts']);
});

test('a page that breaks a limit does not stop the others', async () => {
  const pool = testPool();
  const broken = page('broken.mdx', `${'> '.repeat(500)}too deep`);
  expect(await passagesOf(pool, [one, broken, one])).toEqual(['One.', undefined, 'One.']);
  expect(pool.asked).toHaveLength(1);
});

test('when a child dies, pages are read one by one, and the one that kills it once more with the slower parser', async () => {
  const kills = ({ pages }: CutRequest) => pages.some(({ file, parser }) => file === '2.mdx' && parser === undefined);
  const pool = testPool((request) => (kills(request) ? new ChildDied(undefined, 'SIGSEGV') : undefined));
  expect(await passagesOf(pool, [one, two])).toEqual(['One.', expect.stringContaining('Two')]);
  expect(pool.asked).toEqual(['1.mdx 2.mdx, 1 texts', '1.mdx, 1 texts', '2.mdx, 1 texts', '2.mdxmicromark, 1 texts']);
});

test('a page that no child can read is left out; the slower parser is not tried when memory ran out', async () => {
  const hangs = testPool((request) =>
    request.pages.some(({ file }) => file === '2.mdx') ? new ChildTimedOut(1) : undefined,
  );
  expect(await passagesOf(hangs, [one, two])).toEqual(['One.', undefined]);
  const greedy = testPool(() => new ChildDied(undefined, 'SIGABRT', 'out of memory'));
  expect(await passagesOf(greedy, [two])).toEqual([undefined]);
  expect(greedy.asked).toEqual(['2.mdx, 1 texts', '2.mdx, 1 texts']);
});

test('a request has few pages, and large ones or those with large snippets go alone', () => {
  const pages = (count: number, sizeBytes: number, dependencies: string[] = []) =>
    Array.from({ length: count }, () => ({ sizeBytes, dependencies }));
  const file = (path: string, ...dependencies: string[]) =>
    [path, { path, sha256: '', sizeBytes: 400_000, dependencies }] as const;
  const files = new Map([file('spec.json'), file('a.json'), file('b.json'), file('c.mdx', 'b.json', 'd.mdx')]);
  const sizes = (all: ReturnType<typeof pages>) => groupsOf(all, files).map((group) => group.length);
  expect(sizes(pages(40, 8_000))).toEqual([16, 16, 8]);
  expect(sizes([...pages(2, 8_000), ...pages(2, 2_000_000), ...pages(1, 8_000)])).toEqual([2, 1, 1, 1]);
  expect(sizes(pages(5, 8_000, ['spec.json']))).toEqual([5]);
  expect(sizes([...pages(2, 8_000, ['a.json']), ...pages(2, 8_000, ['b.json'])])).toEqual([2, 2]);
  expect(sizes([...pages(2, 8_000, ['a.json']), ...pages(2, 8_000, ['d.mdx', 'c.mdx'])])).toEqual([2, 1, 1]);
  expect(sizes([])).toEqual([]);
});
