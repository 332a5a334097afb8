import { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import {
  type Housekeeping,
  housekeepingQuerySchema,
  housekeepingSchema,
  type RemovableOfOrganization,
} from '#shared/interfaces/http/installation.ts';
import { page, type Visit } from '../page.ts';
import { partOf, unknownPart } from '../pieces/part.ts';
import { bytes, count, empty, further, pageHead, plural, state, table, time, withQuery } from '../pieces/pieces.ts';

const query = z.object({ cursor: housekeepingQuerySchema.shape.cursor.catch(undefined) });

type At = Pick<Visit<unknown, z.output<typeof query>>, 'address' | 'now' | 'query'>;

/** The objects and content versions that the next round of the housekeeper would remove, for operators. */
export const housekeepingPage = page(
  { path: '/installation/housekeeping', of: 'installation', query },
  async ({ ask, address, now, query: filters }) => ({
    title: 'Housekeeping',
    content: html`${pageHead('Housekeeping', 'The next round of the housekeeper would remove these objects. This page only counts them.')}
${await partOf(
  ask({ path: '/v1/installation/housekeeping', query: { limit: 50, cursor: filters.cursor } }, housekeepingSchema),
  (found) => counted(found, { address, now, query: filters }),
)}`,
  }),
);

function counted(found: Housekeeping, { address, now, query: { cursor } }: At): SafeHtml {
  const { countedAt, countingSince, problem, totals, organizations, notJudged, nextCursor } = found;
  return html`${problem === undefined ? '' : unknownPart(`The last count failed: ${problem}`)}
${
  countingSince === undefined
    ? ''
    : html`<p>${state('busy', 'counting')} since ${time(countingSince, now)}. <a href="${address}">Look again</a></p>`
}
${countedAt === undefined ? '' : html`<p class="about">Counted ${time(countedAt, now)}.</p>`}
${
  notJudged.length === 0
    ? ''
    : html`<p>${state('warn', `Nothing of ${notJudged.join(', ')} is removed, because a history cannot be read.`)}</p><p><a href="/installation/verification">Verify the logs</a></p>`
}
${
  totals === undefined
    ? ''
    : totals.objects.length === 0 && totals.contents === 0
      ? empty(
          'Nothing would be removed',
          'Every object is needed, or is younger than the time for which objects are kept.',
        )
      : html`<h2>In total</h2>
${removable('In total', [{ organization: '', objects: totals.objects, contents: totals.contents }])}
<h2>By organization</h2>
${removable('By organization', organizations, true)}
${further(nextCursor && withQuery(address, { cursor: nextCursor }), cursor && withQuery(address, { cursor: undefined }), 'More')}`
}`;
}

type Row = { organization: string; kind: string; number: number; size?: number };

const removable = (caption: string, found: readonly RemovableOfOrganization[], isByOrganization = false): SafeHtml =>
  table<Row>(
    caption,
    [
      ...(isByOrganization
        ? [
            {
              title: 'Organization',
              cell: ({ organization }: Row) => html`<a href="/o/${organization}">${organization}</a>`,
            },
          ]
        : []),
      { title: 'Kind', cell: ({ kind }) => kind },
      { title: 'Number', isNumber: true, cell: ({ number }) => count(number) },
      {
        title: 'Size',
        isNumber: true,
        cell: ({ size }) =>
          size === undefined
            ? html`<span class="quiet">none</span>`
            : html`<span title="${plural(size, 'byte')}">${bytes(size)}</span>`,
      },
    ],
    found.flatMap(({ organization, objects, contents }): Row[] => [
      ...objects.map(({ kind, objects: number, bytes: size }) => ({ organization, kind, number, size })),
      ...(contents > 0 ? [{ organization, kind: 'content versions', number: contents }] : []),
    ]),
  );
