import { componentSupport } from '#shared/docs/format/components.ts';
import { frontmatterSupport } from '#shared/docs/format/frontmatter.ts';
import { navigationSupport } from '#shared/docs/format/navigation.ts';
import { settingSupport } from '#shared/docs/format/settings.ts';
import type { SupportTable } from '#shared/docs/format/support.ts';
import { code, markdownTable, page } from './markdown.ts';

export function formatPage(): string {
  return page(
    'Docs project format',
    'Every setting and property of the format, and what Bindery does with it.',
    'A test renders a project with and without each one that is done: something that readers get differs. Publishing and `bindery check` say of those that are not done that they have no effect (`setting-without-effect`, `property-without-effect`, `unused-integration`).',
    '## Settings of docs.json',
    'A dot stands between a setting and one inside it, and `[]` behind a list.',
    tableOf(settingSupport),
    '## Nodes of the navigation',
    'The kind of a node stands before the dot.',
    tableOf(navigationSupport),
    '## Frontmatter',
    tableOf(frontmatterSupport),
    '## Components and their properties',
    tableOf(componentSupport),
  );
}

/** Notes are Markdown already. */
const tableOf = (table: SupportTable): string =>
  markdownTable(
    ['name', 'support', 'how, or why not'],
    Object.entries(table).map(([name, { is, note }]) => [code(name), is, note === undefined ? '' : `${note}.`]),
  );
