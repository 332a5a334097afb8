/** A passage of the documentation in the prompt. */
export type PromptPassage = {
  /** Address of the passage on the site: `/guides/x#anchor`. */
  url: string;
  title: string;
  /** Share of the question's words that it contains, 0–1. */
  relevance: number;
  text: string;
};

/** The passages as a part of a prompt. Their text cannot end its element, whatever its author wrote. */
export function writePromptPassages(passages: readonly PromptPassage[]): string {
  const elements = passages.map(
    ({ url, title, relevance, text }) =>
      `<passage url="${escapeText(url)}" title="${escapeText(title)}" relevance="${relevance.toFixed(2)}">\n${escapeText(text)}\n</passage>`,
  );
  return `<passages>\n${elements.join('\n')}\n</passages>`;
}

/** The passages of a prompt, and the text after them: the question. */
export function readPromptPassages(prompt: string): { passages: PromptPassage[]; question: string } {
  const end = prompt.indexOf('</passages>');
  if (end === -1) return { passages: [], question: prompt.trim() };
  const passages = [...prompt.slice(0, end).matchAll(passagePattern)].map(([, url, title, relevance, text]) => ({
    url: unescapeText(url ?? ''),
    title: unescapeText(title ?? ''),
    relevance: Number(relevance),
    text: unescapeText(text ?? ''),
  }));
  return { passages, question: prompt.slice(end + '</passages>'.length).trim() };
}

const passagePattern = /<passage url="([^"]*)" title="([^"]*)" relevance="([^"]*)">\n(.*?)\n<\/passage>/gs;

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
