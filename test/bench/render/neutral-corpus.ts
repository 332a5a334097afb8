/*
 * Generates a documentation in plain Markdown that every site generator reads. It has 1,000 pages with 8 KB and 9 code blocks on average, and is
 * always the same. `node test/bench/render/neutral-corpus.ts <folder> [pages]` writes it to a folder, to measure other generators on it.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const neutralPages = 1_000;

/** Sources of the pages by path (`guides/part-3/page-153.md`): frontmatter with title and description, and plain Markdown with tables. */
export function neutralCorpus(pageCount = neutralPages): Map<string, string> {
  const paths = Array.from({ length: pageCount }, (_, at) => `guides/part-${Math.floor(at / 50)}/page-${at}`);
  return new Map(paths.map((path, at) => [`${path}.md`, pageSource(at, paths)]));
}

/** The same pages as a docs project with `docs.json`: its files by path. */
export function neutralProject(): Record<string, string> {
  const pages = neutralCorpus();
  const paths = [...pages.keys()].map((path) => path.replace(/\.md$/, ''));
  const groups = [...Map.groupBy(paths, (path) => path.split('/')[1] ?? '')].map(([group, of]) => ({
    group,
    pages: of,
  }));
  const settings = { name: 'Neutral', theme: 'mint', colors: { primary: '#0d9373' }, navigation: { groups } };
  return { 'docs.json': JSON.stringify(settings), ...Object.fromEntries(pages) };
}

function pageSource(at: number, paths: readonly string[]): string {
  const draw = drawer(at + 1);
  const sections = Array.from({ length: 7 + draw.below(5) }, () => section(draw, paths));
  return `---\ntitle: "Page ${at}: ${draw.words(3)}"\ndescription: "${draw.sentence()}"\n---\n\n${draw.paragraph()}\n\n${sections.join('\n')}`;
}

function section(draw: Drawer, paths: readonly string[]): string {
  const parts = [`## ${draw.words(3)}`, `${draw.paragraph()} See [${draw.words(2)}](/${draw.of(paths)}).`];
  const extra = draw.below(6);
  if (extra === 0) parts.push(Array.from({ length: 5 }, () => `- **${draw.word()}**: ${draw.sentence()}`).join('\n'));
  if (extra === 1) parts.push(table(draw));
  if (extra === 2) parts.push(`> ${draw.sentence()}`);
  const [language, code] = draw.of(languages);
  parts.push(`\`\`\`${language}\n${code(draw)}\n\`\`\``, draw.sentence());
  return `${parts.join('\n\n')}\n`;
}

function table(draw: Drawer): string {
  const rows = Array.from({ length: 4 }, () => `| \`${draw.name()}\` | ${draw.words(4)} | ${draw.below(999)} |`);
  return ['| Name | Meaning | Default |', '| --- | --- | ---: |', ...rows].join('\n');
}

type Drawer = ReturnType<typeof drawer>;

/** Pseudo-random words from a seed (mulberry32), so that a page depends only on its number. */
function drawer(seed: number) {
  let state = seed * 0x9e3779b1;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
  const of = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  const word = (): string => of(vocabulary);
  const words = (count: number): string => Array.from({ length: count }, word).join(' ');
  const name = (): string => `${word()}_${word()}${below(1_000)}`;
  const sentence = (): string => {
    const written = `${words(5 + below(7))}.`;
    return written.charAt(0).toUpperCase() + written.slice(1);
  };
  const paragraph = (): string => `${sentence()} Use \`${name()}\` with **${words(2)}** and _${word()}_. ${sentence()}`;
  return { below, of, word, words, name, sentence, paragraph };
}

const vocabulary =
  `account archive balance batch branch cache certificate channel client cluster command condition configuration connection content cursor
  dashboard database default deployment digest endpoint environment event example export fallback feature field filter folder gateway guide
  handler header identifier import index instance interface interval journal key latency layout lease library limit listener locale log
  message metric migration model module namespace network notification object operator option origin package parameter partition payload
  permission pipeline policy prefix process profile project provider proxy queue quota record region release replica report request
  resource response result retry role route runtime schedule schema secret segment server service session setting signal snapshot source
  stream subject summary table target task template tenant thread token topic trace transaction trigger upload usage value variable version
  volume webhook window worker workspace`.split(/\s+/);

type Code = (draw: Drawer) => string;
const repeated = (draw: Drawer, least: number, line: () => string): string =>
  Array.from({ length: least + draw.below(4) }, line).join('\n');

/** Languages with their usual frequency in documentation: shells, JSON and Python most, then the languages of servers and browsers. */
const languages: readonly (readonly [language: string, code: Code])[] = [
  [
    'bash',
    (draw) =>
      `# ${draw.sentence()}\nexport ${draw.name().toUpperCase()}="${draw.word()}"\n${repeated(draw, 2, () => `curl -s "https://api.example.com/${draw.word()}?limit=${draw.below(99)}" | grep -v ${draw.word()} > ${draw.name()}.txt`)}`,
  ],
  [
    'json',
    (draw) =>
      `{\n${repeated(draw, 3, () => `  "${draw.name()}": { "id": ${draw.below(9_999)}, "active": true, "tags": ["${draw.word()}", null] },`)}\n  "last": "${draw.word()}"\n}`,
  ],
  [
    'python',
    (draw) =>
      `from ${draw.word()} import ${draw.word()}\n\n\ndef ${draw.name()}(${draw.word()}: str, limit: int = ${draw.below(50)}) -> dict:\n    """${draw.sentence()}"""\n${repeated(draw, 2, () => `    ${draw.name()} = [item for item in range(limit) if item % ${2 + draw.below(7)} == 0]`)}\n    return {"${draw.word()}": True}  # ${draw.words(4)}`,
  ],
  [
    'typescript',
    (draw) =>
      `import { ${draw.word()} } from '${draw.word()}';\n\n/** ${draw.sentence()} */\nexport async function ${draw.name()}(input: Record<string, number>): Promise<string> {\n${repeated(draw, 2, () => `  const ${draw.name()} = await fetch(\`/v1/${draw.word()}/\${input.id}\`); // ${draw.word()}`)}\n  return '${draw.word()}';\n}`,
  ],
  [
    'yaml',
    (draw) =>
      `# ${draw.words(4)}\nversion: ${draw.below(9)}\nservices:\n${repeated(draw, 2, () => `  ${draw.name()}:\n    image: "${draw.word()}:${draw.below(20)}"\n    enabled: true`)}`,
  ],
  [
    'sql',
    (draw) =>
      `-- ${draw.words(5)}\nSELECT ${draw.name()}, COUNT(*) AS total\nFROM ${draw.word()}s\n${repeated(draw, 1, () => `LEFT JOIN ${draw.word()} ON ${draw.name()} = '${draw.word()}'`)}\nWHERE total > ${draw.below(999)};`,
  ],
  [
    'jsx',
    (draw) =>
      `export default function ${draw.of(['Panel', 'Chart', 'List'])}({ ${draw.word()} }) {\n  return (\n    <section className="${draw.word()}">\n${repeated(draw, 2, () => `      <Item key="${draw.name()}" value={${draw.word()} + ${draw.below(9)}}>${draw.words(3)}</Item>`)}\n    </section>\n  );\n}`,
  ],
  [
    'go',
    (draw) =>
      `package ${draw.word()}\n\n// ${draw.sentence()}\nfunc ${draw.of(['Open', 'Close', 'Read'])}(ctx context.Context, id string) (int, error) {\n${repeated(draw, 2, () => `\tif err := ${draw.word()}.Run(ctx, "${draw.name()}", ${draw.below(99)}); err != nil {\n\t\treturn 0, err\n\t}`)}\n\treturn ${draw.below(9)}, nil\n}`,
  ],
  [
    'css',
    (draw) =>
      `/* ${draw.words(4)} */\n${repeated(draw, 2, () => `.${draw.word()} > .${draw.word()}:hover {\n  color: #${(0x100000 + draw.below(0xe00000)).toString(16)};\n  margin: ${draw.below(40)}px auto;\n}`)}`,
  ],
  [
    'html',
    (draw) =>
      `<!-- ${draw.words(3)} -->\n<ul class="${draw.word()}">\n${repeated(draw, 2, () => `  <li data-id="${draw.name()}"><a href="/${draw.word()}">${draw.words(2)}</a></li>`)}\n</ul>`,
  ],
];

if (import.meta.main) {
  const [folder, pages] = process.argv.slice(2);
  if (folder === undefined) throw new Error('Name the folder to write to: neutral-corpus.ts <folder> [pages]');
  for (const [path, source] of neutralCorpus(pages === undefined ? neutralPages : Number(pages))) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, source);
  }
}
