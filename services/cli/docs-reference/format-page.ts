import { componentSupport } from '#shared/docs/format/components.ts';
import { frontmatterSupport } from '#shared/docs/format/frontmatter.ts';
import { navigationSupport } from '#shared/docs/format/navigation.ts';
import { settingSupport } from '#shared/docs/format/settings.ts';
import type { SupportTable } from '#shared/docs/format/support.ts';
import { code, markdownTable, page } from './markdown.ts';

export function formatPage(): string {
  return page(
    'Docs project format',
    'Every setting and property of the format, and its support in Bindery.',
    'For each supported one, a test renders a project with and without it and checks that the output differs. Publishing and `bindery check` report unsupported ones, which have no effect (`setting-without-effect`, `property-without-effect`, `unused-integration`).',
    'Editors show these meanings, too: [how to set them up](/editors).',
    '## Settings of docs.json',
    'A dot separates a setting from a nested one, and `[]` marks the items of a list.',
    tableOf(settingSupport),
    '## Nodes of the navigation',
    'The text before the dot is the kind of the node.',
    tableOf(navigationSupport),
    '## Frontmatter',
    tableOf(frontmatterSupport),
    '## Components and their properties',
    tableOf(componentSupport),
  );
}

/** Meanings and notes are Markdown, so they are not escaped. */
const tableOf = (table: SupportTable): string =>
  markdownTable(
    ['name', 'meaning', 'support', 'how, or why not'],
    Object.entries(table).map(([name, { is, says, note }]) => [
      code(name),
      says,
      is,
      note === undefined ? '' : `${note}.`,
    ]),
  );
