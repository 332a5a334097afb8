import { appendFile } from 'node:fs/promises';
import type { Diagnostic } from '#shared/contracts/diagnostic.ts';
import { type PublicationSource, sourceWords } from '#shared/contracts/publication-source.ts';
import type { ContentChanges } from '#shared/interfaces/http/content-reading.ts';
import { counted } from '#shared/runtime/figures.ts';
import { diagnosticCounts } from './format.ts';

export type PublicationSummary = {
  domain: string;
  contentVersion: string;
  pages: number;
  address?: string | undefined;
  isPreview: boolean;
  source: PublicationSource;
  diagnostics: readonly Diagnostic[];
  /** The differences to the latest content before; undefined if it is the first, or the server cannot tell. */
  changes?: ContentChanges | undefined;
};

const mostPages = 50;

/** A summary of a publication in Markdown, for the page of a run. Pure. */
export function summaryText(summary: PublicationSummary): string {
  const { domain, contentVersion, pages, address, isPreview, source, diagnostics, changes } = summary;
  const from = sourceWords(source);
  const changed = changes?.changes.filter(({ kind }) => kind === 'page') ?? [];
  return [
    `### Documentation: ${isPreview ? 'preview' : 'publication'} of ${plain(domain)}`,
    '',
    ...(address === undefined ? [] : [`**${address}**`, '']),
    '| | |',
    '|---|---|',
    `| Content | \`${contentVersion}\`, ${counted(pages, 'page')} |`,
    ...(from === '' ? [] : [`| From | ${plain(from)} |`]),
    `| Checks | ${diagnosticCounts(diagnostics)} |`,
    ...(changes === undefined ? [] : [`| Pages changed | ${changed.length} |`]),
    '',
    ...changed.slice(0, mostPages).map(({ change, path }) => `- ${change}: ${plain(path)}`),
    ...(changed.length > mostPages ? [`- and ${changed.length - mostPages} more`] : []),
    '',
  ].join('\n');
}

/** Text that stands in Markdown for itself, in one line. */
const plain = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]<>|#\n\r]/g, (mark) => (/\s/.test(mark) ? ' ' : `\\${mark}`));

/** Appends to the file, as runners ask: several steps may write summaries. */
export const writeSummary = (file: string, summary: PublicationSummary): Promise<void> =>
  appendFile(file, summaryText(summary));
