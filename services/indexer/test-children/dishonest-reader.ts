import { serveChild } from '#shared/docs/sandbox/child-server.ts';
import { dishonest } from '#shared/docs/sandbox/test-children/dishonesty.ts';

type Request = { pages: { file: string; title: string }[] };

/** Answers of a child that a page has taken over, by the start of the page's title. The child replaces the one that reads pages. */
const lies: Record<string, unknown> = {
  'too long': { passages: [{ anchor: '', heading: '', text: 'x'.repeat(100_000) }], links: [], markdown: '' },
  'too many': {
    passages: Array.from({ length: 5_000 }, () => ({ anchor: '', heading: '', text: 'x' })),
    links: [],
    markdown: '',
  },
  'no passage': { passages: [null], links: [], markdown: '' },
  'more fields': { passages: [], links: [], markdown: '', path: 'of-somebody-else' },
};

serveChild(
  dishonest(async (request) => {
    const { pages } = request as Request;
    if (pages.some(({ title }) => title === 'one more')) return [];
    return pages.map(
      ({ file, title }) =>
        lies[title] ?? {
          passages: [{ anchor: '', heading: '', text: `honest ${file}` }],
          links: [],
          markdown: '# x\n',
        },
    );
  }),
);
