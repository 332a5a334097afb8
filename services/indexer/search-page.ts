import type { NavigationNode, PageEntry } from '#shared/docs/project/site-model.ts';
import type { SearchPage } from '#shared/search/search-index.ts';
import type { PageSection } from './read-page.ts';

/** Languages and versions that a reader sees without choosing one. */
type DefaultDivisions = { languages: ReadonlySet<string>; versions: ReadonlySet<string> };

/** Score factor that ranks passages of other languages and versions below equal ones of the default. */
const otherDivisionShare = 0.6;

/**
 * Score factor of pages that describe one operation. They have the same words many times, so a guide on the subject would rank after them. Questions for
 * the name or the address of an operation still find it first.
 */
const operationShare = 0.6;

/** Length limits of the texts that every passage of a page repeats, and of its description: frontmatter may have 64 KB, and is indexed with each passage. */
const mostOf = { title: 500, keywords: 2_000, description: 2_000, division: 200 };

/** A page for the search index. Its first passage begins with its description, which states the topic of the page. */
export function searchPage(
  page: PageEntry,
  passages: readonly PageSection[],
  defaults: DefaultDivisions,
  made: Pick<SearchPage, 'key' | 'links' | 'markdown' | 'peoplesMarkdown'>,
): SearchPage {
  const { path, groups, frontmatter } = page;
  const title = upTo(mostOf.title, page.title);
  const sidebarTitle = upTo(mostOf.title, page.sidebarTitle);
  // Longer values cannot be searched for.
  const [language, version, tag] = [page.language, page.version, page.tag].map((name) => upTo(mostOf.division, name));
  const operation = [frontmatter.openapi, frontmatter.api, frontmatter.asyncapi].filter(
    (value) => typeof value === 'string',
  );
  return {
    path,
    title,
    names: sidebarTitle === undefined || sidebarTitle === title ? [] : [sidebarTitle],
    keywords: upToTogether(mostOf.keywords, [...operation, ...page.keywords]),
    language,
    version,
    tag,
    groups,
    boost:
      boostOf(frontmatter.boost) *
      (operation.length > 0 ? operationShare : 1) *
      shareOf(page.language, defaults.languages) *
      shareOf(page.version, defaults.versions),
    passages: withDescription(title, upTo(mostOf.description, page.description), passages),
    ...made,
  };
}

function upTo<T extends string | undefined>(most: number, text: T): T | string {
  return text === undefined || text.length <= most ? text : text.slice(0, most).toWellFormed();
}

/** The first of these texts, up to a total number of characters. */
function upToTogether(most: number, texts: readonly string[]): string[] {
  let characters = 0;
  const end = texts.findIndex((text) => {
    characters += text.length;
    return characters > most;
  });
  return end === -1 ? [...texts] : texts.slice(0, end);
}

/** The default of each choice between languages or versions in the navigation, or its first. */
export function defaultDivisions(navigation: readonly NavigationNode[]): DefaultDivisions {
  const languages = new Set<string>();
  const versions = new Set<string>();
  const visit = (nodes: readonly NavigationNode[]): void => {
    for (const [kind, names] of [
      ['language', languages],
      ['version', versions],
    ] as const) {
      const choices = nodes.filter((node) => node.kind === 'division' && node.division === kind);
      const chosen = choices.find((node) => node.kind === 'division' && node.isDefault) ?? choices[0];
      if (chosen?.kind === 'division') names.add(chosen.title);
    }
    for (const node of nodes) if (node.kind === 'group' || node.kind === 'division') visit(node.children);
  };
  visit(navigation);
  return { languages, versions };
}

function withDescription(
  title: string,
  description: string | undefined,
  passages: readonly PageSection[],
): PageSection[] {
  const [first, ...others] = passages;
  const lead = description?.trim() ?? '';
  if (first?.anchor === '' && first.heading === '') {
    return [{ ...first, text: [lead, first.text].filter((text) => text !== '').join('\n\n') }, ...others];
  }
  if (lead !== '') return [{ anchor: '', heading: '', text: lead }, ...passages];
  return passages.length > 0 ? [...passages] : [{ anchor: '', heading: '', text: title }];
}

const shareOf = (value: string | undefined, defaults: ReadonlySet<string>): number =>
  value === undefined || defaults.size === 0 || defaults.has(value) ? 1 : otherDivisionShare;

const boostOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 ? Math.min(3, Math.max(0.1, value)) : 1;
