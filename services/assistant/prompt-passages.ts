/** A passage of the documentation as a language model gets it. */
export type PromptPassage = {
  /** Where the reader finds it: `/guides/x#anchor`. */
  url: string;
  title: string;
  /** Share of the question's words that it contains, 0–1. */
  relevance: number;
  text: string;
};

/** The passages as a part of a prompt. Their text cannot end its element, whatever an author wrote. */
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

/** Escapes text, so that it cannot be read as an element of the prompt. Half a character becomes a sign for it. */
export const escapeText = (text: string): string =>
  text.toWellFormed().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const unescapeText = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');

/** Every model says this sentence when the passages have no answer. We search for it to count gaps in the documentation. */
export const notInDocumentation = 'This is not in the documentation.';

/** Models may put words around the sentence, so the first 300 characters count. */
export function saysNotInDocumentation(answer: string): boolean {
  return answer.slice(0, 300).toLowerCase().includes('not in the documentation');
}

/** Begins the paragraph of an answer that only leads on to other pages. */
export const seeAlso = 'See also';

/** What an answer says, without the paragraph that only leads on to other pages: links in it are not what the answer rests on. */
export const withoutSeeAlso = (answer: string): string =>
  answer
    .split('\n\n')
    .filter((paragraph) => !paragraph.startsWith(`${seeAlso} [`))
    .join('\n\n');
