import { decodeSource } from './decode-source.ts';
import { parseFrontmatter } from './parse-frontmatter.ts';

const maxTitle = 300;
/** Lines that may come before the first content of a page: empty lines, comments, imports. */
const beforeContent = /^(?:\s+|<!--[\s\S]*?-->|\{\/\*[\s\S]*?\*\/\}|import[ \t][^\n]*(?:\n|$))/;

/**
 * The text of a heading `# …` at the start of a page, which is its title if the frontmatter has none. `body` is the page without its frontmatter.
 * Undefined if other content comes first.
 */
export function leadingTitle(body: string): string | undefined {
  let rest = body;
  for (let before = beforeContent.exec(rest); before !== null; before = beforeContent.exec(rest)) {
    rest = rest.slice(before[0].length);
  }
  const [first = '', second = ''] = rest.slice(0, 2_000).split('\n', 2);
  const written =
    /^ {0,3}#[ \t]+(.*?)(?:[ \t]+#*)?[ \t]*$/.exec(first)?.[1] ?? (/^=+[ \t]*$/.test(second) ? first : undefined);
  if (written === undefined) return undefined;
  const text = plain(written);
  return text === '' ? undefined : text.slice(0, maxTitle).toWellFormed();
}

/** Does the same as `leadingTitle` for the stored bytes of a source. */
export function leadingTitleOf(source: Uint8Array | string, file: string): string | undefined {
  return leadingTitle(parseFrontmatter(decodeSource(source, file).text, file).body);
}

/** The text of a Markdown line as a reader sees it. */
function plain(line: string): string {
  return line
    .replace(/\\?\{#[^{}]*\}[ \t]*$/, '')
    .replaceAll(/!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replaceAll(/<\/?[A-Za-z][^<>]*>/g, '')
    .replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
    .replaceAll(/(\*\*|__|`|~~)(.+?)\1/g, '$2')
    .replaceAll(/(?<![\w*])([*_])(?=\S)(.+?)(?<=\S)\1(?![\w*])/g, '$2')
    .trim();
}
