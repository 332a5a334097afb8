/** The opening line of a code block: its indentation, its fence and the text after it. */
export const fenceStart = /^(\s*)(`{3,}|~{3,})(.*)$/;

/** True if this line ends the block that `fence` began. */
export const endsFence = (line: string, fence: string): boolean => {
  const trimmed = line.trim();
  return trimmed.length >= fence.length && trimmed === (fence[0] ?? '').repeat(trimmed.length);
};

/**
 * The words after a fence as Bindery has them: language, title, lines to highlight, line numbers. The four generators write them in ways that do not
 * contradict each other: `js title="a.js" {1,3-4} showLineNumbers`, `ts{1,3}:line-numbers [a.ts]`, `py linenums="1" hl_lines="2 3"`, `{.py .annotate}`.
 */
export function fenceWords(words: string): string {
  const text = words.trim();
  const language =
    /^\{\s*\.([\w+#-]+)/.exec(text)?.[1] ?? /^[\w+#.-]+(?=[\s{:[]|$)/.exec(text)?.[0]?.replace(/^\./, '') ?? '';
  const title = /\b(?:title|file|filename)=(["'])(.*?)\1/.exec(text)?.[2] ?? /\[([^\]]+)\]/.exec(text)?.[1];
  const lines =
    /(?<!=)\{([\d,\s-]+)\}/.exec(text)?.[1] ?? /hl_lines=(["'])(.*?)\1/.exec(text)?.[2]?.trim().replaceAll(/\s+/g, ',');
  const isNumbered = /\bshowLineNumbers\b(?!=\{?false)|:line-numbers|\blinenums=/.test(text);
  return [
    language,
    title === undefined ? '' : `title="${title.replaceAll('"', "'")}"`,
    lines === undefined ? '' : `{${lines.replaceAll(/\s+/g, '')}}`,
    isNumbered ? 'lines' : '',
    /\bwrap\b(?!=)/.test(text) ? 'wrap' : '',
  ]
    .filter((word) => word !== '')
    .join(' ');
}
