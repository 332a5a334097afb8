import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { contentVersion as contentVersionId } from '#shared/contracts/identifiers.ts';
import {
  type ContentChanges,
  contentChangesSchema,
  contentSourceSchema,
} from '#shared/interfaces/http/content-reading.ts';
import { page } from '../../page.ts';
import { bytes, count, empty, further, pageHead, state, table, type Tone, withQuery } from '../../pieces/pieces.ts';
import { differenceTable, textDifference } from '../../pieces/text-difference.ts';
import { contentParams } from './content-page.ts';
import { shortVersion } from './domain-parts.ts';

const changesAtOnce = 100;
const cursor = z
  .string()
  .regex(/^[0-9]{1,9}$/)
  .optional()
  .catch(undefined);
const from = contentVersionId.optional().catch(undefined);

type Change = ContentChanges['changes'][number];

const tones: Readonly<Record<Change['change'], Tone>> = { added: 'good', removed: 'bad', changed: 'warn' };

const nothingToCompare = (to: string): { title: string; status: number; content: SafeHtml } => ({
  title: 'Changes',
  status: 400,
  content: html`${pageHead('Changes')}${empty('The address names no content to compare with', html`<a href="${to}#compare">Choose one</a>`)}`,
});

/** Pages and files that differ between two contents. */
export const changesPage = page(
  {
    path: '/domains/:domain/content/:contentVersion/changes',
    params: contentParams,
    query: z.object({ from, cursor }),
  },
  async ({ ask, address, base, query, params: { domain, contentVersion } }) => {
    const path = `${base}/domains/${domain}/content/${contentVersion}`;
    const { from } = query;
    if (from === undefined) return nothingToCompare(path);
    const { summary, changes, nextCursor } = await ask(
      {
        path: `/v1/domains/${domain}/content/${contentVersion}/changes`,
        query: { from, cursor: query.cursor, limit: changesAtOnce },
      },
      contentChangesSchema,
    );
    const to = ({ kind, path: name }: Change) => withQuery(`${path}/difference`, { from, [kind]: name });
    const content = html`${pageHead('Changes', html`from ${shortVersion(from)} to ${shortVersion(contentVersion)} of ${domain}`, html`<a class="button" href="${withQuery(`${base}/domains/${domain}/content/${from}/changes`, { from: contentVersion })}">The other way round</a><a class="button" href="${path}">To the content</a>`)}
<dl class="tiles">${(
      [
        ['Pages added', summary.added],
        ['Pages removed', summary.removed],
        ['Pages changed', summary.changed],
        ['Pages unchanged', summary.unchanged],
        ['Other files', summary.otherFiles],
      ] as const
    ).map(([name, value]) => html`<div class="tile"><dt>${name}</dt><dd>${count(value)}</dd></div>`)}</dl>
${
  changes.length === 0
    ? empty('Nothing differs', 'Both contents have the same pages and files.')
    : table<Change>(
        'Changes',
        [
          { title: 'Page or file', cell: (each) => html`<a href="${to(each)}">${each.path}</a>` },
          { title: 'Title', cell: ({ title }) => title ?? '' },
          { title: 'Kind', cell: ({ kind }) => kind },
          { title: 'Change', cell: ({ change }) => state(tones[change], change) },
        ],
        changes,
      )
}${further(nextCursor && withQuery(address, { cursor: nextCursor }), query.cursor && withQuery(address, { cursor: undefined }))}`;
    return { title: 'Changes', content };
  },
);

const name = z.string().min(1).max(1024).optional().catch(undefined);

/** The text of one page or file in two contents, side by side. */
export const differencePage = page(
  {
    path: '/domains/:domain/content/:contentVersion/difference',
    params: contentParams,
    query: z.object({ from, page: name, file: name }),
  },
  async ({ ask, base, query, params: { domain, contentVersion } }) => {
    const path = `${base}/domains/${domain}/content/${contentVersion}`;
    const { from, page, file } = query;
    const what = page === undefined ? file : page;
    if (from === undefined || what === undefined) return nothingToCompare(path);
    const { source, before } = await ask(
      {
        path: `/v1/domains/${domain}/content/${contentVersion}/source`,
        query: { from, ...(page === undefined ? { file } : { page }) },
      },
      contentSourceSchema,
    );
    const shown = source ?? before;
    const about = html`${shown?.title === undefined || shown.title === what ? '' : html`${shown.title}, `}from ${shortVersion(from)} to ${shortVersion(contentVersion)}`;
    const content = html`${pageHead(what, about, html`<a class="button" href="${withQuery(`${path}/changes`, { from })}">To all changes</a>`)}
${source === undefined ? html`<p>${state('bad', 'removed')}</p>` : before === undefined ? html`<p>${state('good', 'added')}</p>` : ''}
${difference(source, before, { before: from.slice(3, 11), after: contentVersion.slice(3, 11) })}`;
    return { title: what, content };
  },
);

type Source = z.output<typeof contentSourceSchema>['source'];

function difference(source: Source, before: Source, names: { before: string; after: string }): SafeHtml {
  const unread = [source, before].find((each) => each !== undefined && each.text === undefined);
  if (unread !== undefined)
    return empty(
      'This file is not shown',
      `${unread.file} (${bytes(unread.sizeBytes)}) is no text, has more than a megabyte, or was not kept.`,
    );
  const rows = textDifference(before?.text ?? '', source?.text ?? '');
  if (rows === undefined) return empty('The texts differ too much', 'More than 4,000 lines are different.');
  if (!rows.some(({ kind }) => kind === 'changed')) return empty('The text is the same', 'Nothing differs.');
  return differenceTable(rows, names);
}
