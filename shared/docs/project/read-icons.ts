import { iconForm, iconProblem, pictureOfIcon } from '#shared/docs/icons/icon-form.ts';
import { quoted, type Report } from './diagnostics.ts';
import { type JsonObject, textOf } from './json-values.ts';
import type { NavigationNode, PageEntry, SiteSettings } from './site-model.ts';

/** `icon` of an entry with its `iconType`, as one text in Font Awesome's notation: `fa-regular fa-circle`. */
export function iconOf(entry: JsonObject): string | undefined {
  const name = textOf(entry['icon']);
  const type = textOf(entry['iconType']);
  if (name === undefined || type === undefined || !/^[a-z0-9-]+$/i.test(name) || !/^[a-z-]{1,30}$/.test(type))
    return name;
  const styles = type.split('-').map((style) => `fa-${style}`);
  return [...styles, `fa-${name.replace(/^fa-/, '')}`].join(' ');
}

/** The parts of a project that name icons outside of page content. */
type NamedIcons = {
  settings: Pick<SiteSettings, 'iconLibrary' | 'navbar'>;
  navigation: readonly NavigationNode[];
  pages: readonly Pick<PageEntry, 'file' | 'icon'>[];
};

/** Reports icons of sidebar and header that no library has, and pictures that are not a file of the project, once for each file that names them. */
export function checkIcons(
  { settings, navigation, pages }: NamedIcons,
  configFile: string,
  isFile: (path: string) => boolean,
  report: Report,
): void {
  const told = new Set<string>();
  const check = (name: string | undefined, file: string): void => {
    if (name === undefined || told.has(`${file}\n${name}`)) return;
    told.add(`${file}\n${name}`);
    const form = iconForm({ name }, settings.iconLibrary);
    const picture = form.kind === 'picture' ? pictureOfIcon(form.address) : undefined;
    const isMissing =
      form.kind === 'picture' && !(picture !== undefined && (/^(https|data):/.test(picture) || isFile(picture)));
    const message = isMissing
      ? `The icon ${quoted(name)} is neither a file of the project nor an https address. Name a picture that is there.`
      : iconProblem({ name }, form);
    if (message !== undefined) report({ severity: 'warning', code: 'unknown-icon', message, file });
  };
  for (const page of pages) check(page.icon, page.file);
  for (const link of settings.navbar.links) check(link.icon, configFile);
  const checkNodes = (nodes: readonly NavigationNode[]): void => {
    for (const node of nodes) {
      // The icons of pages are in their own files.
      if (node.kind !== 'page') check(node.icon, configFile);
      if ('children' in node) checkNodes(node.children);
    }
  };
  checkNodes(navigation);
}
