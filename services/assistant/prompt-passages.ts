/** A passage of the documentation in the prompt. */
export type PromptPassage = {
  /** Address of the passage on the site: `/guides/x#anchor`. */
  url: string;
  title: string;
  /** Share of the question's words that it contains, 0–1. */
  relevance: number;
  text: string;
};

/** A part of a question with the passages that were found for it. Most questions have one part. */
export type PromptPart = { question: string; passages: readonly PromptPassage[] };

/**
 * The passages as text of a prompt, in one element for each part of the question. A text that is in an earlier element is not repeated. Passages cannot
 * end their element, whatever their author wrote.
 */
export function writePromptPassages(parts: readonly PromptPart[]): string {
  const written = new Map<string, string>();
  return parts
    .map(({ question, passages }) => {
      const elements = passages.map(({ url, title, relevance, text }) => {
        const names = `url="${escapeText(url)}" title="${escapeText(title)}" relevance="${relevance.toFixed(2)}"`;
        if (written.get(url) === text) return `<passage ${names} />`;
        written.set(url, text);
        return `<passage ${names}>\n${escapeText(text)}\n</passage>`;
      });
      const part = parts.length === 1 ? '' : ` part="${escapeText(question)}"`;
      return `<passages${part}>\n${elements.join('\n')}\n</passages>`;
    })
    .join('\n');
}

/** The parts of a question with their passages, as a prompt has them, and the text after them: the whole question. */
export function readPromptPassages(prompt: string): { parts: PromptPart[]; question: string } {
  const written: { question: string | undefined; passages: PromptPassage[] }[] = [];
  const known = new Map<string, string>();
  let rest = prompt;
  for (let from = rest.indexOf('<passages'); from !== -1; from = rest.startsWith('\n<passages') ? 1 : -1) {
    const end = rest.indexOf('</passages>', from);
    if (end === -1) break;
    const element = rest.slice(from, end);
    const passages = [...element.matchAll(passagePattern)].map(([, url = '', title = '', relevance, text]) => {
      const address = unescapeText(url);
      if (text !== undefined) known.set(address, unescapeText(text));
      const shown = { url: address, title: unescapeText(title), relevance: Number(relevance) };
      return { ...shown, text: known.get(address) ?? '' };
    });
    const [, part] = /^<passages part="([^"]*)"/.exec(element) ?? [];
    written.push({ question: part === undefined ? undefined : unescapeText(part), passages });
    rest = rest.slice(end + '</passages>'.length);
  }
  const question = rest.trim();
  const parts = written.map(({ question: part, passages }) => ({ question: part ?? question, passages }));
  return { parts: parts.length === 0 ? [{ question, passages: [] }] : parts, question };
}

const passagePattern = /<passage url="([^"]*)" title="([^"]*)" relevance="([^"]*)"(?: \/>|>\n(.*?)\n<\/passage>)/gs;

/** Escapes text, so that it cannot be read as an element of the prompt. Lone surrogates become U+FFFD. */
export const escapeText = (text: string): string =>
  text.toWellFormed().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const unescapeText = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');

/** Every model is told to say this sentence when the passages have no answer. Answers with it are counted as gaps in the documentation. */
export const notInDocumentation = 'This is not in the documentation.';

/** Models may put words around the sentence, so the first 300 characters are searched. */
export function saysNotInDocumentation(answer: string): boolean {
  return answer.slice(0, 300).toLowerCase().includes('not in the documentation');
}

/** First words of the paragraph that only links to further pages. */
export const seeAlso = 'See also';

/** An answer without the paragraph that only links to further pages, because those links are not its sources. */
export const withoutSeeAlso = (answer: string): string =>
  answer
    .split('\n\n')
    .filter((paragraph) => !paragraph.startsWith(`${seeAlso} [`))
    .join('\n\n');

/**
 * The passages that an answer has its words from, in their order: those that it quotes, each with a paragraph that is only the link to it. For an answer
 * that quotes none, those that it links to; all, if it links to none. Pure.
 */
export function sourcesOf(answer: string, passages: readonly PromptPassage[]): readonly PromptPassage[] {
  const said = withoutSeeAlso(answer);
  // Quoted text has links of its own, which are not the sources of the answer.
  const quoted = said.split('\n\n').flatMap((paragraph) => onlyLink.exec(paragraph)?.[1] ?? []);
  const inOrder = (place: (passage: PromptPassage) => number): PromptPassage[] =>
    passages.filter((passage) => place(passage) !== -1).toSorted((a, b) => place(a) - place(b));
  const found = inOrder(({ url }) => quoted.indexOf(url));
  if (found.length > 0) return found;
  const linked = inOrder(({ url }) => said.indexOf(`](${url})`));
  return linked.length > 0 ? linked : passages;
}

/** A paragraph that is one link. The first group is its address. */
const onlyLink = /^\[(?:[^\\\]\n]|\\.)*\]\(([^\s]+)\)$/;
