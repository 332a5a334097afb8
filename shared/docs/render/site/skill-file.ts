import { encodePath } from '../bundle-paths.ts';

/** The part of a documentation that its skill names. `address`: of the site, without a slash at its end; '' if it is not known. */
export type SkillSource = {
  name: string;
  description?: string | undefined;
  address: string;
  /** True if agents can ask the site at `/mcp`. */
  hasMcp: boolean;
  /** The parts of the navigation in their order; pages outside of all parts have the title ''. */
  parts: readonly {
    title: string;
    pages: readonly { path: string; title: string; description?: string | undefined }[];
  }[];
};

const mostCharacters = 30_000;
const longestDescription = 160;

/** Name of a skill: lower case letters, digits and hyphens, at most 64. Pure. */
export function skillName(name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '');
  return words === '' ? 'documentation' : words;
}

/** When agents should use the skill, in a sentence. Pure. */
export const skillDescription = ({ name, description }: Pick<SkillSource, 'name' | 'description'>): string =>
  `Use for questions and tasks about ${oneLine(name)}${description === undefined ? '' : `: ${oneLine(description)}`}`
    .slice(0, 1_000)
    .toWellFormed();

/** `skill.md`, made from titles, descriptions and navigation: what the documentation is about, how to read it, and its pages. Pure. */
export function skillText(source: SkillSource): string {
  const { name, address, hasMcp, parts } = source;
  const head = [
    '---',
    `name: ${skillName(name)}`,
    `description: ${JSON.stringify(skillDescription(source))}`,
    '---',
    '',
    `# ${oneLine(name)}`,
    ...(source.description === undefined ? [] : ['', oneLine(source.description)]),
    '',
    '## How to read the documentation',
    '',
    `- Each page is Markdown at its address with \`.md\` at the end, such as \`${address}/index.md\`. [llms.txt](${address}/llms.txt) lists all pages, and [llms-full.txt](${address}/llms-full.txt) has their text.`,
    ...(hasMcp
      ? [
          `- The server at \`${address}/mcp\` answers the Model Context Protocol: use its tools \`search\`, \`read_page\`, \`list_pages\` and \`find_in_pages\`.`,
        ]
      : []),
    '- Say where an answer comes from. If the documentation does not have it, say so.',
    '',
    '## Pages',
    '',
    '',
  ].join('\n');
  const lines: string[] = [];
  let size = head.length;
  let left = 0;
  for (const { title, pages } of parts) {
    const some = pages.map((page) => lineOf(page, address));
    const part = [...(title === '' ? [] : [`### ${oneLine(title)}`, '']), ...some, ''];
    const length = part.join('\n').length + 1;
    if (size + length > mostCharacters) {
      left += pages.length;
      continue;
    }
    size += length;
    lines.push(...part);
  }
  const rest = left === 0 ? '' : `${left} more pages are in llms.txt.\n`;
  return `${head}${lines.join('\n')}${rest}`;
}

function lineOf(page: SkillSource['parts'][number]['pages'][number], address: string): string {
  const about = oneLine(page.description ?? '')
    .slice(0, longestDescription)
    .toWellFormed();
  const title = oneLine(page.title).replaceAll(/[[\]\\]/g, '\\$&');
  return `- [${title}](${address}/${encodePath(page.path)}.md)${about === '' ? '' : `: ${about}`}`;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
