import type { SearchIndex, SearchScope } from '#shared/search/search-index.ts';
import type { UiChunk } from '#shared/interfaces/http/answer-wire.ts';
import { type LinkFilter, linkFilter } from './link-filter.ts';
import type { PromptPassage } from './prompt-passages.ts';
import { pagePathOf } from './retrieval.ts';

/** Filters the links in an answer's text and reasoning chunks. Text that was held back is sent before the chunk that ends it. */
export async function* linkedAsAllowed(
  chunks: AsyncIterable<UiChunk>,
  isAllowed: (url: string) => Promise<boolean> | boolean,
): AsyncGenerator<UiChunk> {
  type Text = { kind: string; id: unknown; links: LinkFilter };
  let texts: Text[] = [];
  for await (const chunk of chunks) {
    const { type, id } = chunk;
    const [, kind, event] = /^(text|reasoning)-(start|delta|end)$/.exec(type) ?? [];
    const isThis = (one: Text): boolean => one.kind === kind && one.id === id;
    let text = event === 'start' ? undefined : texts.find(isThis);
    if (kind !== undefined && text === undefined) {
      text = { kind, id, links: linkFilter(isAllowed) };
      texts.push(text);
    }
    if (event === 'delta' && text !== undefined) {
      const delta = await text.links.push(String(chunk.delta));
      if (delta !== '') yield { ...chunk, delta };
      continue;
    }
    // An answer that breaks off sends no end chunk for its texts.
    const ended = type === 'failed' || type === 'abort' ? texts : event === 'end' ? texts.filter(isThis) : [];
    for (const { kind, id, links } of ended) {
      const delta = await links.end();
      if (delta !== '') yield { type: `${kind}-delta`, id, delta };
    }
    texts = texts.filter((one) => !ended.includes(one));
    yield chunk;
  }
}

/** Allows links to addresses that the passages name, and to pages of the site that the reader may see. */
export function ownLinks(
  { searchIndex }: { searchIndex: Pick<SearchIndex, 'findPage'> },
  scope: SearchScope,
  groups: readonly string[],
  passages: readonly PromptPassage[],
): (url: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const isPage = async (path: string) => (await searchIndex.findPage(scope, path, groups)) !== undefined;
  return async (url) => {
    if (passages.some((passage) => passage.url === url)) return true;
    // Whole addresses are compared, because `https://a.example` is also a prefix of `https://a.example.net`.
    if (/^(?:https?|ftp):\/\//i.test(url)) return passages.some(({ text }) => namesAddress(text, url));
    if (url.startsWith('mailto:')) return passages.some(({ text }) => namesMail(text, url.slice('mailto:'.length)));
    const path = leadsToSite(url) ? pagePathOf(url) : undefined;
    if (path === undefined) return false;
    const answer = known.get(path) ?? isPage(path);
    known.set(path, answer);
    return answer;
  };
}

const anySite = 'http://site.invalid';

/** True if a browser that follows the link stays on the site, whatever its origin. Browsers treat `\\` as `/` and drop tabs and line ends. */
function leadsToSite(url: string): boolean {
  return /^\/[^\\\p{Cc}]*$/u.test(url) && URL.parse(url, anySite)?.origin === anySite;
}

const mailForm = /^[-.\w+]+@[-.\w]+$/;

function namesMail(text: string, mail: string): boolean {
  if (!mailForm.test(mail)) return false;
  for (let at = text.indexOf(mail); at !== -1; at = text.indexOf(mail, at + 1)) {
    const [before = '', after] = [text[at - 1], text.slice(at + mail.length)];
    if (!/[-.\w+]/.test(before) && !/^\.*[-\w]/.test(after)) return true;
  }
  return false;
}

function namesAddress(text: string, url: string): boolean {
  for (let at = text.indexOf(url); at !== -1; at = text.indexOf(url, at + 1)) {
    if (!/^[.,;:!?]*[^\s<>()[\]"'`.,;:!?]/.test(text.slice(at + url.length, at + url.length + 8))) return true;
  }
  return false;
}
