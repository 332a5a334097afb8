/** A question with its right pages, as paths of readers (`/guides/x`): one list for each part of the question. Without a list nothing answers it. */
export type AssistantQuestion = { query: string; parts: readonly (readonly string[])[] };

/** An answer as readers get it. */
export type GivenAnswer = { text: string; sources: readonly { url: string }[] };

export type AnswerScore = {
  /** True if the answer says that the documentation has none. */
  isRefused: boolean;
  /** The sources of the answer, the further pages that it names, and the other pages that it links to. */
  named: readonly string[];
  /** Position of the first right page among them, from 1; 0 if none is right. */
  rank: number;
  /** For each part of the question, whether a right page is a source of its answer. */
  parts: readonly boolean[];
};

/** Compares an answer with the right pages of its question. Pure. */
export function scoreAnswer({ parts }: AssistantQuestion, { text, sources }: GivenAnswer): AnswerScore {
  const linksIn = (words: string) => [...words.matchAll(/\]\((\/[^)\s]*)\)/g)].map(([, url]) => pageOf(url ?? ''));
  const [further = ''] = /^See also \[.*/m.exec(text) ?? [];
  const pages = [...new Set(sources.map(({ url }) => pageOf(url)))];
  // Links within quoted text are those of the page's author, so they come last.
  const named = [...new Set([...pages, ...linksIn(further), ...linksIn(text)])];
  const isRight = (page: string, right: readonly string[]): boolean =>
    right.some((one) => page === pathOf(one) || page === `${pathOf(one)}/index` || `${page}/index` === pathOf(one));
  const blocks = blocksOf(text);
  const ofPart = (at: number): string[] => {
    const block = blocks.length === parts.length ? blocks[at] : undefined;
    return block === undefined
      ? pages
      : pages.filter((page) => sources.some(({ url }) => pageOf(url) === page && block.includes(`](${url})`)));
  };
  return {
    isRefused: text.slice(0, 300).toLowerCase().includes('not in the documentation'),
    named,
    rank: named.findIndex((page) => parts.some((right) => isRight(page, right))) + 1,
    parts: parts.map((right, at) => ofPart(at).some((page) => isRight(page, right))),
  };
}

/** The answers to the parts of a question: each is below its part in bold. Parts with the same answer are lines above it. */
function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let names = 0;
  for (const paragraph of text.split('\n\n')) {
    const lines = paragraph.split('\\\n');
    if (lines.every((line) => /^\*\*.*\*\*$/.test(line) && !line.slice(2, -2).includes('**'))) {
      names = lines.length;
      blocks.push(...lines.map(() => ''));
      continue;
    }
    if (paragraph.startsWith('See also [')) continue;
    for (let at = blocks.length - names; at < blocks.length; at += 1) blocks[at] += `${paragraph}\n\n`;
  }
  return blocks;
}

const pageOf = (url: string): string => pathOf(url.replace(/[#?].*$/s, ''));
/** The path of a page without slashes at its ends. Pure. */
export const pathOf = (address: string): string => address.replaceAll(/^\/+|\/+$/g, '') || 'index';
