import pino from 'pino';
import { afterAll, expect, test } from 'vitest';
import { childPool } from '#shared/docs/sandbox/child-pool.ts';
import { withSnapshot } from '#shared/docs/sandbox/child-snapshot.ts';
import { cutPages } from './cut-pages.ts';

const entry = new URL('./test-children/dishonest-reader.ts', import.meta.url);
const mustWork = {
  info: () => undefined,
  warn(line: string) {
    throw new Error(line);
  },
};
const pool = childPool({ ...(await withSnapshot({ entry }, mustWork)), slots: 2, warmSpares: 0 });
afterAll(() => pool.close());

const { signal } = new AbortController();
const page = (file: string, source: string, title = file) => ({ file, source, title, dependencies: {}, variables: {} });

/** The passages found for an organization's pages, and the log lines about the others. */
async function cut(organization: string, pages: Parameters<typeof cutPages>[2]) {
  const said: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void said.push(line) });
  const scope = { organization, domain: 'docs', contentVersion: 'cv_1' };
  const found = await cutPages({ pool, logger }, scope, pages, signal);
  return { texts: found.map((one) => one?.passages.map(({ text }) => text).join(' ')), said: said.join('') };
}

test.each([
  ['whose child says null', page('bad.mdx', 'dishonest: says null;')],
  ['whose child says what Node says of handles', page('bad.mdx', 'dishonest: says what Node says of handles;')],
  ['whose child answers a request of somebody else', page('bad.mdx', 'dishonest: answers a request of somebody else;')],
  ['of which the child says too much', page('bad.mdx', 'x', 'too long')],
  ['of which the child finds too many passages', page('bad.mdx', 'x', 'too many')],
  ['of which the child finds something else', page('bad.mdx', 'x', 'no passage')],
  ['for which the child names another page', page('bad.mdx', 'x', 'more fields')],
  ['for which the child gives no answer', page('bad.mdx', 'x', 'one more')],
])(
  'a page %s is found by its title only, the others of its site and of other organizations whole',
  async (_what, bad) => {
    const [own, other] = await Promise.all([
      cut('acme', [page('1.mdx', 'One.'), bad, page('2.mdx', 'Two.')]),
      cut('globex', [page('1.mdx', 'One.'), page('2.mdx', 'Two.')]),
    ]);
    expect(own.texts).toEqual(['honest 1.mdx', undefined, 'honest 2.mdx']);
    expect(own.said).toContain('its process was ended because it ');
    expect(other).toEqual({ texts: ['honest 1.mdx', 'honest 2.mdx'], said: '' });
  },
);
