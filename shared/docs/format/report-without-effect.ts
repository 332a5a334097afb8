import type { Finding } from '#shared/docs/findings/finding-texts.ts';
import { isJsonObject, type JsonObject, type JsonValue, listOf, objectOf } from '#shared/docs/project/json-values.ts';
import { frontmatterSupport } from './frontmatter.ts';
import { navigationSupport } from './navigation.ts';
import { settingSupport } from './settings.ts';
import type { SupportTable } from './support.ts';

type Report = (diagnostic: Finding) => void;

const notDone = (table: SupportTable): [name: string, why: string][] =>
  Object.entries(table).flatMap(([name, { is, note = '' }]) => (is === 'not' ? [[name, note]] : []));

/** Reports each setting of `docs.json` that has no effect once, with the reason. Integrations are reported by their own reader. */
export function reportSettingsWithoutEffect(config: JsonObject, file: string, report: Report): void {
  const say = (name: string, why: string): void =>
    report({ severity: 'info', code: 'setting-without-effect', message: `"${name}" has no effect: ${why}.`, file });
  for (const [name, why] of notDone(settingSupport)) {
    if (!name.startsWith('integrations.') && isWritten(config, name.split('.'))) say(name, why);
  }
  const found = keysOfNodes(config['navigation']);
  for (const [name, why] of notDone(navigationSupport)) if (found.has(name)) say(`navigation: ${name}`, why);
}

/** Reports each frontmatter key that has no effect once, with the number of pages that have it. */
export function reportFrontmatterWithoutEffect(
  pages: Iterable<readonly [file: string, frontmatter: JsonObject]>,
  report: Report,
): void {
  const rows = notDone(frontmatterSupport);
  const found = new Map<string, { file: string; count: number }>();
  for (const [file, frontmatter] of pages) {
    for (const [name] of rows) {
      if (!isSaid(frontmatter[name])) continue;
      const known = found.get(name) ?? { file, count: 0 };
      known.count += 1;
      found.set(name, known);
    }
  }
  for (const [name, why] of rows) {
    const { file, count } = found.get(name) ?? { file: '', count: 0 };
    if (count === 0) continue;
    const where = count === 1 ? 'the frontmatter' : `the frontmatter of this page and ${count - 1} more`;
    const message = `"${name}" in ${where} has no effect: ${why}.`;
    report({ severity: 'info', code: 'setting-without-effect', message, file });
  }
}

/** A key that switches something off needs no report when Bindery does not have the feature. */
const isSaid = (value: JsonValue | undefined): boolean => value !== undefined && value !== null && value !== false;

function isWritten(value: JsonValue | undefined, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return isSaid(value);
  const [name = '', isList] = key.split('[]');
  const inner = objectOf(value)[name];
  return isList === undefined ? isWritten(inner, rest) : listOf(inner).some((item) => isWritten(item, rest));
}

const kinds = ['group', 'tab', 'item', 'anchor', 'dropdown', 'product', 'version', 'language'];

/** The keys of all navigation nodes, each alone (`icon`) and with the kind of its node (`group.icon`): the support table has names of both forms. */
function keysOfNodes(navigation: JsonValue | undefined): Set<string> {
  const found = new Set<string>();
  const visit = (value: JsonValue | undefined): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isJsonObject(value)) return;
    const kind = kinds.find((name) => typeof value[name] === 'string');
    for (const [key, inner] of Object.entries(value)) {
      if (!isSaid(inner)) continue;
      found.add(key);
      if (kind !== undefined) found.add(`${kind === 'item' ? 'menu' : kind}.${key}`);
      if (typeof inner === 'object') visit(inner);
    }
  };
  visit(navigation);
  return found;
}
