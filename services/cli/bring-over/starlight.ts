import { posix } from 'node:path';
import type { ProseRule } from './convert-page.ts';
import { attributesOf, attributeText, calloutOf, closeCallout, openCallout } from './page-lines.ts';
import { ConfigCall, field, listIn, readConfig, textIn } from './read-config.ts';
import { homeCards } from './home-cards.ts';
import { frontOf } from './read-front.ts';
import type { PageTools, Plan } from './plan.ts';
import { type OutlineEntry, titleOfName } from './site-outline.ts';
import { type Left, NotSuchAProject, type SourceProject } from './source-project.ts';

const docs = 'src/content/docs';

type Front = { source: string; path: string; title: string; order: number; isHidden: boolean };

/** Reads a project of Astro with Starlight. */
export async function starlightPlan(project: SourceProject, left: Left[]): Promise<Plan> {
  const file = ['mjs', 'ts', 'js', 'mts'].map((ending) => `astro.config.${ending}`).find((path) => project.has(path));
  if (file === undefined) throw new NotSuchAProject('There is no astro.config: name the folder that has it.');
  const config = await readConfig(project, file, left);
  const call = listIn(field(config.value, 'integrations')).find(
    (each): each is ConfigCall => each instanceof ConfigCall && each.name === 'starlight',
  );
  if (call === undefined) throw new NotSuchAProject(`${file} has no call of starlight(…).`);
  const [options] = call.args;
  const languages = Object.keys(field(options, 'locales') ?? {}).filter((name) => name !== 'root');
  const fronts: Front[] = [];
  for (const source of project.paths) {
    if (!source.startsWith(`${docs}/`) || !/\.mdx?$/.test(source)) continue;
    const below = source.slice(docs.length + 1);
    const language = languages.find((name) => below.startsWith(`${name}/`));
    if (language !== undefined && language !== textIn(field(options, 'defaultLocale'))) continue;
    const front = frontOf(await project.text(source));
    const slug = textIn(front['slug']);
    const order = Number(field(front, 'sidebar', 'order') ?? Number.NaN);
    fronts.push({
      source,
      path: slug ?? below.replace(/\.mdx?$/, ''),
      title: textIn(front['title']) ?? titleOfName(posix.basename(below)),
      order: Number.isNaN(order) ? Infinity : order,
      isHidden: field(front, 'sidebar', 'hidden') === true || front['draft'] === true,
    });
  }
  for (const name of languages)
    if (
      name !== textIn(field(options, 'defaultLocale')) &&
      project.paths.some((path) => path.startsWith(`${docs}/${name}/`))
    )
      left.push({ file, line: config.lineOf(name), what: `The translation "${name}" is not brought over` });
  const pages = new Map(fronts.map(({ source, path }) => [source, path]));
  const sidebar = field(options, 'sidebar');
  const name = textIn(field(options, 'title')) ?? 'Documentation';
  const entries = sidebar === undefined ? folderEntries('') : listIn(sidebar).flatMap((item) => entryOf(item));
  for (const key of ['customCss', 'components', 'plugins', 'head'])
    if (field(options, key) !== undefined)
      left.push({ file, line: config.lineOf(key), what: `"${key}" has no counterpart` });
  const social = field(options, 'social');
  const github =
    textIn(field(social, 'github')) ??
    textIn(
      field(
        listIn(social).find((each) => field(each, 'icon') === 'github'),
        'href',
      ),
    );
  return {
    outline: {
      name,
      description: textIn(field(options, 'description')),
      logo: pictureOf(field(options, 'logo', 'src') ?? field(options, 'logo', 'light')),
      favicon: pictureOf(field(options, 'favicon')),
      repository: github,
      tabs: [{ label: name, entries }],
      redirects: Object.entries(field(config.value, 'redirects') ?? {}).flatMap(([source, to]) => {
        const destination = textIn(to) ?? textIn(field(to, 'destination'));
        if (destination !== undefined && !source.includes('['))
          return [{ source: source.replace(/(?<=.)\/$/, ''), destination }];
        left.push({
          file,
          line: config.lineOf(source),
          what: `The redirect from "${source}" has a pattern that is not known`,
        });
        return [];
      }),
    },
    pages,
    folders: [
      { from: 'public', to: '' },
      { from: 'src/assets', to: 'assets' },
      { from: docs, to: '' },
    ],
    bases: [`/${(textIn(field(config.value, 'base')) ?? '').replace(/^\/+|\/+$/g, '')}`.replace(/^\/$/, ''), ''],
    blocks: 'colons',
    showsTitle: true,
    isMdx: (path) => path.endsWith('.mdx'),
    rules: (_, tools) => rules(tools),
    frontmatter,
    preface: homeCards,
  };

  function entryOf(item: unknown): OutlineEntry[] {
    const label = textIn(field(item, 'label'));
    const slug = textIn(item) ?? textIn(field(item, 'slug'));
    const link = textIn(field(item, 'link'));
    const directory = textIn(field(item, 'autogenerate', 'directory'));
    if (slug !== undefined || (link !== undefined && !/^https?:/.test(link))) {
      const path = (slug ?? link ?? '').replace(/^\/+|\/+$/g, '') || 'index';
      const page = fronts.find((each) => each.path === path || each.path === `${path}/index`);
      if (page !== undefined) return [{ page: page.source }];
      left.push({
        file: file ?? '',
        line: config.lineOf('sidebar'),
        what: `The sidebar names "${slug ?? link}", which is no page`,
      });
      return [];
    }
    if (link !== undefined) return [{ href: link, label: label ?? link }];
    const below = [
      ...listIn(field(item, 'items')).flatMap((each) => entryOf(each)),
      ...(directory === undefined ? [] : folderEntries(directory.replace(/^\/+|\/+$/g, ''))),
    ];
    return label === undefined ? below : [{ group: label, entries: below }];
  }

  function folderEntries(folder: string): OutlineEntry[] {
    const root = folder === '' ? docs : `${docs}/${folder}`;
    const children = new Map<string, { order: number; name: string; entry: OutlineEntry }>();
    for (const page of fronts) {
      if (page.isHidden || !page.source.startsWith(`${root}/`)) continue;
      const [child = '', ...below] = page.source.slice(root.length + 1).split('/');
      if (below.length === 0)
        children.set(child, {
          order: child.startsWith('index.') ? -Infinity : page.order,
          name: child,
          entry: { page: page.source },
        });
      else if (!children.has(child))
        children.set(child, {
          order: Infinity,
          name: child,
          entry: { group: titleOfName(child), entries: folderEntries(folder === '' ? child : `${folder}/${child}`) },
        });
    }
    return [...children.values()]
      .sort((a, b) => (a.order === b.order ? (a.name < b.name ? -1 : 1) : a.order - b.order))
      .map(({ entry }) => entry);
  }
}

const pictureOf = (value: unknown): string | undefined => {
  const path = textIn(value);
  if (path === undefined || /^https?:/.test(path)) return undefined;
  return `/${path
    .replace(/^\.?\//, '')
    .replace(/^src\/assets\//, 'assets/')
    .replace(/^public\//, '')}`;
};

function frontmatter({ title, description, sidebar, hero, draft }: Record<string, unknown>) {
  const label = textIn(field(sidebar, 'label'));
  return {
    title: title ?? textIn(field(hero, 'title')) ?? 'Welcome',
    ...(description !== undefined && { description }),
    ...(label !== undefined && { sidebarTitle: label }),
    ...(textIn(field(sidebar, 'badge')) !== undefined && { tag: field(sidebar, 'badge') }),
    ...((draft === true || field(sidebar, 'hidden') === true) && { hidden: true }),
  };
}

/** Components of Starlight with a counterpart here. */
const known = /^(Tabs|TabItem|Card|CardGrid|LinkCard|LinkButton|Aside|Steps|FileTree|Badge|Icon|Image|Code)$/;

function rules({ left, target }: PageTools): ProseRule[] {
  const pictures = new Map<string, string>();
  return [
    {
      pattern: /^import\s+([\s\S]*?)\s+from\s+(['"])([^'"]+)\2;?[ \t]*$/gm,
      replace: ([, names = '', , from = ''], at) => {
        if (/\.(png|jpe?g|gif|svg|webp|avif)(\?.*)?$/i.test(from))
          pictures.set(names.trim(), target(from.replace(/^~\/|^@\//, '/src/'), at));
        else
          for (const name of names.replaceAll(/[{}]/g, '').split(','))
            if (!known.test(name.trim()) || !/^(@astrojs\/starlight|astro:)/.test(from))
              left(at, `The component ${name.trim()} of "${from}" is not brought over`);
        return '';
      },
    },
    {
      pattern: /\bsrc=\{(\w+)(?:\.src)?\}/g,
      replace: ([all = '', name = '']) => (pictures.has(name) ? `src="${pictures.get(name)}"` : all),
    },
    { pattern: /<Image\b/g, replace: () => '<img' },
    { pattern: /<Tabs\b[^>]*>/g, replace: () => '<Tabs>' },
    {
      pattern: /<TabItem\b[^>]*>/g,
      replace: ([tag = '']) => `<Tab title=${attributeText(attributesOf(tag)['label'] ?? 'Tab')}>`,
    },
    { pattern: /<\/TabItem>/g, replace: () => '</Tab>' },
    { pattern: /<CardGrid\b[^>]*>/g, replace: () => '<CardGroup cols={2}>' },
    { pattern: /<\/CardGrid>/g, replace: () => '</CardGroup>' },
    {
      pattern: /<Card\b((?:[^>"]|"[^"]*")*)>/g,
      replace: ([, rest = '']) => `<Card title=${attributeText(attributesOf(rest)['title'] ?? '')}>`,
    },
    {
      pattern: /<LinkCard\b([\s\S]*?)\/>/g,
      replace: ([, rest = ''], at) => {
        const { title = '', href = '', description = '' } = attributesOf(rest);
        return `<Card title=${attributeText(title)} href=${attributeText(target(href, at))}>${description}</Card>`;
      },
    },
    {
      pattern: /<LinkButton\b([^>]*)>([\s\S]*?)<\/LinkButton>/g,
      replace: ([, rest = '', text = '']) => `[${text.trim()}](${attributesOf(rest)['href'] ?? ''})`,
    },
    {
      pattern: /<Aside\b([^>]*)>/g,
      replace: ([, rest = '']) => {
        const { type = 'note', title } = attributesOf(rest);
        return openCallout(calloutOf(type), title);
      },
    },
    { pattern: /<\/Aside>/g, replace: () => closeCallout },
    // The ordered list inside shows the steps.
    { pattern: /^[ \t]*<\/?Steps>[ \t]*$/gm, replace: () => '' },
    {
      pattern: /<Badge\b([^>]*?)\/>/g,
      replace: ([, rest = '']) => `<Badge>${attributesOf(rest)['text'] ?? ''}</Badge>`,
    },
    {
      pattern: /<Icon\b[^>]*\/>/g,
      replace: ([tag = ''], at) => {
        left(at, `The icon "${attributesOf(tag)['name'] ?? ''}" is not brought over`);
        return '';
      },
    },
    {
      pattern: /<Code\b[\s\S]*?\/>/g,
      replace: (_, at) => {
        left(at, 'Code that a program gives (<Code>) is not brought over');
        return '';
      },
    },
  ];
}
