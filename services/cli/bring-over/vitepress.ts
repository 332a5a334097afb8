import { posix } from 'node:path';
import type { ProseRule } from './convert-page.ts';
import { attributesOf } from './page-lines.ts';
import { field, listIn, readConfig, textIn } from './read-config.ts';
import { homeCards } from './home-cards.ts';
import { frontOf } from './read-front.ts';
import type { PageTools, Plan } from './plan.ts';
import { type OutlineEntry, titleOfName } from './site-outline.ts';
import { type Left, NotSuchAProject, type SourceProject } from './source-project.ts';

/** Reads a project of VitePress, from its root or the folder that has `.vitepress`. */
export async function vitepressPlan(project: SourceProject, left: Left[]): Promise<Plan> {
  const file = project.paths.find((path) => /^(?:docs\/)?\.vitepress\/config(\/index)?\.[cm]?[jt]s$/.test(path));
  if (file === undefined) throw new NotSuchAProject('There is no .vitepress/config: name the folder that has it.');
  const home = file.startsWith('docs/') ? 'docs' : '';
  const config = await readConfig(project, file, left);
  const docs = posix
    .join(home, textIn(field(config.value, 'srcDir')) ?? '.')
    .replace(/^\.$/, '')
    .replace(/\/$/, '');
  const inDocs = (path: string): string | undefined =>
    docs === '' ? path : path.startsWith(`${docs}/`) ? path.slice(docs.length + 1) : undefined;
  const pages = new Map<string, string>();
  const titles = new Map<string, string>();
  for (const source of project.paths) {
    const below = inDocs(source);
    if (below === undefined || !below.endsWith('.md') || /(^|\/)\./.test(below) || /^readme\.md$/i.test(below))
      continue;
    if (below.includes('[')) {
      left.push({ file: source, line: 1, what: 'Pages that a program makes (dynamic routes) are not brought over' });
      continue;
    }
    const front = frontOf(await project.text(source));
    pages.set(source, below.replace(/\.md$/, ''));
    titles.set(source, textIn(front['title']) ?? titleOfName(posix.basename(below, '.md')));
  }
  const theme = field(config.value, 'themeConfig');
  const name = textIn(field(config.value, 'title')) ?? 'Documentation';
  const sidebar = field(theme, 'sidebar');
  const nav = listIn(field(theme, 'nav'));
  const index = posix.join(docs, 'index.md');
  const start: OutlineEntry[] = pages.has(index) ? [{ page: index }] : [];
  const tabs = Array.isArray(sidebar)
    ? [{ label: name, entries: [...start, ...sidebar.flatMap((item) => entryOf(item, ''))] }]
    : sidebar === undefined
      ? [{ label: name, entries: folderEntries(docs) }]
      : [
          ...(start.length > 0 ? [{ label: name, entries: start }] : []),
          ...Object.entries(sidebar as Record<string, unknown>).map(([path, items]) => ({
            label: navLabel(path),
            entries: listIn(field(items, 'items') ?? items).flatMap((item) =>
              entryOf(item, textIn(field(items, 'base')) ?? ''),
            ),
          })),
        ];
  for (const key of ['rewrites', 'markdown', 'vite', 'transformPageData', 'head', 'locales'])
    if (field(config.value, key) !== undefined)
      left.push({ file, line: config.lineOf(key), what: `"${key}" has no counterpart` });
  const themeFile = project.paths.find((path) => /\.vitepress\/theme\//.test(path));
  if (themeFile !== undefined)
    left.push({ file: themeFile, line: 1, what: 'The theme of the old site is not brought over' });
  const github = listIn(field(theme, 'socialLinks')).find((each) => field(each, 'icon') === 'github');
  const logo =
    textIn(field(theme, 'logo')) ?? textIn(field(theme, 'logo', 'src')) ?? textIn(field(theme, 'logo', 'light'));
  return {
    outline: {
      name,
      description: textIn(field(config.value, 'description')),
      logo: logo === undefined || /^https?:/.test(logo) ? undefined : `/${logo.replace(/^\/+/, '')}`,
      repository: textIn(field(github, 'link')),
      tabs,
      redirects: [],
    },
    pages,
    folders: [
      { from: posix.join(docs, 'public'), to: '' },
      { from: docs, to: '' },
    ],
    bases: [(textIn(field(config.value, 'base')) ?? '/').replace(/\/$/, ''), ''],
    blocks: 'colons',
    showsTitle: false,
    isMdx: () => false,
    rules: (_, tools) => rules(tools),
    wholeLine: (_, tools) => wholeLine(tools),
    frontmatter,
    preface: homeCards,
  };

  function entryOf(item: unknown, base: string): OutlineEntry[] {
    const label = textIn(field(item, 'text')) ?? '';
    const link = textIn(field(item, 'link'));
    const below = listIn(field(item, 'items')).flatMap((each) => entryOf(each, textIn(field(item, 'base')) ?? base));
    const own = link === undefined ? [] : linkEntry(link, label, base);
    return field(item, 'items') === undefined ? own : [{ group: label || name, entries: [...own, ...below] }];
  }

  function linkEntry(link: string, label: string, base: string): OutlineEntry[] {
    if (/^https?:/.test(link)) return [{ href: link, label }];
    const path = `${base}${link}`
      .replace(/#.*$/, '')
      .replace(/^\/+/, '')
      .replace(/\.(md|html)$/, '');
    const source = [`${path}.md`, posix.join(path, 'index.md')]
      .map((each) => posix.join(docs, each))
      .find((each) => pages.has(each));
    if (source !== undefined) return [{ page: source }];
    left.push({
      file: file ?? '',
      line: config.lineOf('sidebar'),
      what: `The sidebar names "${link}", which is no page`,
    });
    return [];
  }

  function navLabel(path: string): string {
    const item = nav.find((each) => {
      const link = textIn(field(each, 'link')) ?? textIn(field(each, 'activeMatch')) ?? '';
      return path !== '/' && link.startsWith(path.replace(/\/$/, ''));
    });
    return textIn(field(item, 'text')) ?? (path === '/' ? name : titleOfName(posix.basename(path)));
  }

  function folderEntries(folder: string): OutlineEntry[] {
    const root = folder === '' ? '' : `${folder}/`;
    const names = [...pages.keys()]
      .filter((path) => path.startsWith(root))
      .map((path) => path.slice(root.length).split('/')[0] ?? '');
    return [...new Set(names)]
      .sort((a, b) => Number(b === 'index.md') - Number(a === 'index.md') || (a < b ? -1 : 1))
      .map((each) =>
        each.endsWith('.md')
          ? { page: `${root}${each}` }
          : { group: titleOfName(each), entries: folderEntries(`${root}${each}`) },
      );
  }
}

function frontmatter({ title, description, layout, hero }: Record<string, unknown>) {
  return {
    title: title ?? textIn(field(hero, 'name')) ?? 'Welcome',
    ...((description ?? (layout === 'home' ? field(hero, 'tagline') : undefined)) !== undefined && {
      description: description ?? field(hero, 'tagline'),
    }),
  };
}

function wholeLine({ left }: PageTools): (line: string, at: number) => string[] | undefined {
  let block: string | undefined;
  return (line, at) => {
    if (block !== undefined) {
      if (line.trim() === `</${block}>`) block = undefined;
      return [];
    }
    const [, tag] = /^<(script|style)\b[^>]*>\s*$/.exec(line) ?? [];
    if (tag !== undefined) {
      block = tag;
      left(at, `The ${tag === 'script' ? 'program' : 'style'} of this page (<${tag}>) is not brought over`);
      return [];
    }
    if (/^\s*\[\[toc\]\]\s*$/i.test(line)) return [];
    if (/^\s*<<<\s/.test(line)) {
      left(at, `The code of the file "${line.trim().slice(4)}" is not brought over`);
      return [];
    }
    const [, included] = /^\s*<!--\s*@include:\s*(.+?)\s*-->\s*$/.exec(line) ?? [];
    if (included === undefined) return undefined;
    left(at, `The included file "${included}" is not brought over`);
    return [];
  };
}

function rules({ left }: PageTools): ProseRule[] {
  return [
    {
      pattern: /\{\{[\s\S]*?\}\}/g,
      replace: ([expression = ''], at) => {
        left(at, `The expression "${expression}" is not run`);
        return expression;
      },
    },
    {
      pattern: /<Badge\b([^>]*?)\/>/g,
      replace: ([, rest = '']) => `<Badge>${attributesOf(rest)['text'] ?? attributesOf(rest)['type'] ?? ''}</Badge>`,
    },
    { pattern: /<Badge\b[^>]+>/g, replace: () => '<Badge>' },
    {
      pattern: /<(?!Badge\b)([A-Z]\w*)\b[^>]*>/g,
      replace: ([tag = '', name = ''], at) => {
        left(at, `The component ${name} of the old site is not brought over`);
        return tag.endsWith('/>') ? '' : tag;
      },
    },
  ];
}
