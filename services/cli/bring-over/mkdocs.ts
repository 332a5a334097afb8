import { posix } from 'node:path';
import { messageOf } from '#shared/runtime/failures.ts';
import type { ProseRule } from './convert-page.ts';
import { field, listIn, readYaml, textIn } from './read-config.ts';
import type { PageTools, Plan } from './plan.ts';
import { type OutlineEntry, titleOfName } from './site-outline.ts';
import { type Left, NotSuchAProject, type SourceProject } from './source-project.ts';

/** Reads a project of MkDocs, with or without Material for MkDocs. */
export async function mkdocsPlan(project: SourceProject, left: Left[]): Promise<Plan> {
  const file = ['mkdocs.yml', 'mkdocs.yaml'].find((path) => project.has(path));
  if (file === undefined) throw new NotSuchAProject('There is no mkdocs.yml: name the folder that has it.');
  const text = await project.text(file);
  let config: unknown;
  try {
    // Tags such as `!!python/name:…` and `!ENV` name code, which is not run.
    config = readYaml(text.replaceAll(/(^|[\s[,:])!{1,2}[\w./:-]+/gm, '$1'));
  } catch (error) {
    throw new NotSuchAProject(`${file} cannot be read: ${messageOf(error).split('\n')[0]}`);
  }
  const lines = text.split('\n');
  const lineOf = (words: string): number => lines.findIndex((line) => line.includes(words)) + 1 || 1;
  const docs = posix.normalize(textIn(field(config, 'docs_dir')) ?? 'docs').replace(/\/$/, '');
  if (docs.startsWith('../') && !(await project.include(docs)))
    throw new NotSuchAProject(`The pages are in ${docs}, which is no folder of the same repository.`);
  const pages = new Map<string, string>();
  for (const path of project.paths)
    if (path.startsWith(`${docs}/`) && path.endsWith('.md')) pages.set(path, pathOfFile(path.slice(docs.length + 1)));
  const nav = listIn(field(config, 'nav'));
  const isTabbed = listIn(field(config, 'theme', 'features')).includes('navigation.tabs');
  const entries = nav.length > 0 ? nav.flatMap((entry) => entriesOf(entry)) : entriesOfFolder(docs);
  const name = textIn(field(config, 'site_name')) ?? 'Documentation';
  const isSection = (entry: OutlineEntry): entry is Extract<OutlineEntry, { group: string }> => 'group' in entry;
  const loose = entries.filter((entry) => !isSection(entry));
  const tabs =
    isTabbed && entries.some(isSection)
      ? [
          ...(loose.length > 0 ? [{ label: name, entries: loose }] : []),
          ...entries.filter(isSection).map(({ group, entries: below }) => ({ label: group, entries: below })),
        ]
      : [{ label: name, entries }];
  const maps = pluginOptions(field(config, 'plugins'), 'redirects');
  const redirects = Object.entries((field(maps, 'redirect_maps') ?? {}) as Record<string, unknown>).flatMap(
    ([from, to]) => {
      const source = `/${pathOfFile(from).replace(/(^|\/)index$/, '')}`;
      const target = String(to);
      const destination = /^https?:/.test(target) ? target : `/${pathOfFile(target.split('#')[0] ?? '')}`;
      if (!/^https?:/.test(target) && ![...pages.values()].includes(destination.slice(1)))
        left.push({ file, line: lineOf(from), what: `The redirect from "${from}" leads to no page` });
      return [{ source: source === '/' ? '/index' : source, destination }];
    },
  );
  for (const key of ['extra_css', 'extra_javascript', 'hooks'])
    if (listIn(field(config, key)).length > 0)
      left.push({
        file,
        line: lineOf(key),
        what: `"${key}" is not brought over: styles and programs of the old site do not fit`,
      });
  for (const plugin of listIn(field(config, 'plugins'))) {
    const plain = typeof plugin === 'string' ? plugin : (Object.keys(plugin ?? {})[0] ?? '');
    if (!['search', 'redirects', 'material/search', 'autorefs', 'minify'].includes(plain))
      left.push({ file, line: lineOf(plain), what: `There is no counterpart of the plugin "${plain}"` });
  }
  return {
    outline: {
      name,
      description: textIn(field(config, 'site_description')),
      logo: assetOf(field(config, 'theme', 'logo')),
      favicon: assetOf(field(config, 'theme', 'favicon')),
      colour: textIn(field(config, 'theme', 'palette', 'primary'))?.match(/^#[\da-f]{6}$/i)?.[0],
      repository: textIn(field(config, 'repo_url')),
      tabs,
      redirects,
    },
    pages,
    folders: [{ from: docs, to: '' }],
    bases: [''],
    blocks: 'indented',
    showsTitle: false,
    isMdx: () => false,
    rules: (_, page) => rules(page),
    wholeLine: (_, page) => wholeLine(page),
    frontmatter: ({ title, sidebar_label: label, description, tags, ...rest }) => ({
      ...(title !== undefined && { title }),
      ...(label !== undefined && { sidebarTitle: label }),
      ...(description !== undefined && { description }),
      ...(Array.isArray(tags) && { keywords: tags }),
      ...Object.fromEntries(Object.entries(rest).filter(([key]) => !['hide', 'icon', 'template'].includes(key))),
    }),
  };

  function entriesOf(entry: unknown, label?: string): OutlineEntry[] {
    if (typeof entry === 'string') {
      if (/^https?:/.test(entry)) return [{ href: entry, label: label ?? entry }];
      const path = posix.join(docs, entry);
      if (pages.has(path)) return [{ page: path }];
      const below = path.endsWith('/') ? entriesOfFolder(path.slice(0, -1)) : [];
      if (below.length > 0) return [{ group: label ?? titleOfName(posix.basename(path)), entries: below }];
      left.push({ file: file ?? '', line: lineOf(entry), what: `The navigation names "${entry}", which is no page` });
      return [];
    }
    return Object.entries((entry ?? {}) as Record<string, unknown>).flatMap(([title, below]): OutlineEntry[] =>
      Array.isArray(below)
        ? [{ group: title, entries: below.flatMap((each) => entriesOf(each)) }]
        : entriesOf(below ?? '', title),
    );
  }

  function entriesOfFolder(folder: string): OutlineEntry[] {
    const names = [
      ...new Set(
        [...pages.keys()]
          .filter((path) => path.startsWith(`${folder}/`))
          .map((path) => path.slice(folder.length + 1).split('/')[0] ?? ''),
      ),
    ].sort((a, b) => Number(b === 'index.md') - Number(a === 'index.md') || (a < b ? -1 : 1));
    return names.map((each) =>
      each.endsWith('.md')
        ? { page: `${folder}/${each}` }
        : { group: titleOfName(each), entries: entriesOfFolder(`${folder}/${each}`) },
    );
  }
}

const pathOfFile = (path: string): string => path.replace(/\.md$/, '').replace(/(^|\/)README$/, '$1index');

const assetOf = (value: unknown): string | undefined => {
  const path = textIn(value);
  return path === undefined ? undefined : `/${path.replace(/^\/+/, '')}`;
};

function pluginOptions(plugins: unknown, name: string): unknown {
  if (!Array.isArray(plugins)) return field(plugins, name);
  return plugins.map((each) => field(each, name)).find((each) => each !== undefined);
}

function wholeLine({ left }: PageTools): (line: string, at: number) => string[] | undefined {
  return (line, at) => {
    if (/^\s*\[TOC\]\s*$/i.test(line)) return [];
    if (/^\s*(-{1,2}8<-{1,2}|;--8<--)/.test(line)) {
      left(at, 'Included files ("--8<--") are not brought over');
      return [];
    }
    if (/^\s*\{%.*%\}\s*$/.test(line)) {
      left(at, 'Macros ("{% … %}") are not run');
      return [];
    }
    return undefined;
  };
}

function rules({ left }: PageTools): ProseRule[] {
  return [
    // A heading keeps its identifier; other lists of attributes have no counterpart.
    {
      pattern: /^(#{1,6} .*?)\{:?[ \t]*(#[\w:.-]+)[^}\n]*\}[ \t]*$/gm,
      replace: ([, text = '', id = '']) => `${text}{${id}}`,
    },
    {
      pattern:
        /(?<![ \t])[ \t]*\{:?[ \t]*(?=[.#\w-]+[^{}\n]*\})(?:[.#][\w-]+|[\w-]+=(?:"[^"\n]*"|[\w.%-]+)|target=\S+)(?:\s+(?:[.#][\w-]+|[\w-]+=(?:"[^"\n]*"|[\w.%-]+)))*[ \t]*\}/g,
      replace: ([list = ''], at) => {
        if (/^\s*\{#[\w:.-]+\}$/.test(list)) return list;
        const [, id] = /^\s*\{:?[ \t]+#([\w:.-]+)[ \t]*\}$/.exec(list) ?? [];
        if (id !== undefined) return `<span id="${id}"></span>`;
        left(at, `The attributes "${list.trim()}" have no counterpart`);
        return '';
      },
    },
    {
      pattern: /:(?:material|octicons|fontawesome|simple)-[\w-]+:/g,
      replace: ([icon = ''], at) => {
        left(at, `The icon "${icon}" is not brought over`);
        return '';
      },
    },
    {
      pattern: /\+\+([\w+" -]+?)\+\+/g,
      replace: ([, keys = '']) =>
        keys
          .split('+')
          .map((key) => `<kbd>${key.replaceAll('"', '')}</kbd>`)
          .join('+'),
    },
    { pattern: /(?<![=\w])==(?=\S)([^=\n]+?)(?<=\S)==(?!=)/g, replace: ([, text = '']) => `<mark>${text}</mark>` },
    {
      pattern: /^:[ \t]{2,}\S/gm,
      replace: ([line = ''], at) => {
        left(at, 'Definition lists have no counterpart');
        return line;
      },
    },
    {
      pattern: /\{\{.*?\}\}/g,
      replace: ([macro = ''], at) => {
        left(at, `The variable "${macro}" is not known`);
        return macro;
      },
    },
  ];
}
