import type { SiteViewsRecord } from '#shared/contracts/site-views.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import { askBus } from '../ask-bus.ts';

/** Size of a record, in characters of JSON. A record with one large day may have more, and stays below the megabyte that a message may have. */
const largestRecord = 250_000;

export type Day = SiteViewsRecord['days'][number];

/** Records the days of an organization in a batch. `source` and `sequence` identify the batch, which may be recorded more than once. */
export async function recordDays(
  bus: Pick<BusOf<'gateway'>, 'views'>,
  batch: Pick<SiteViewsRecord, 'organization' | 'source' | 'sequence' | 'time'>,
  days: readonly Day[],
): Promise<void> {
  for (const [part, some] of inRecords(days).entries()) {
    const id = `sv_${batch.source}.${batch.sequence}.${part}`;
    await askBus(bus.views.record({ type: 'SitesViewed', version: 1, id, ...batch, days: some }));
  }
}

/** The days of an organization, in records that the bus takes. Pure. */
function inRecords(days: readonly Day[]): Day[][] {
  const records: Day[][] = [];
  let size = Infinity;
  for (const day of days) {
    const added = JSON.stringify(day).length;
    if (size + added > largestRecord) {
      records.push([]);
      size = 0;
    }
    records.at(-1)?.push(day);
    size += added;
  }
  return records;
}
