import type { ServedSite } from '#shared/interfaces/http/sites.ts';
import type { SiteViewsBody } from '#shared/interfaces/http/site-views.ts';
import type { SiteViewsRecord } from '#shared/contracts/site-views.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';

/** Size of a record, in characters of JSON. A record with one large day may have more, and stays below the megabyte that a message may have. */
const largestRecord = 250_000;

type Day = SiteViewsRecord['days'][number];

/**
 * Records a batch of counts of a host, and returns the number of its days that were recorded. Days of sites that are not live or not counted are left out,
 * and so are days that are not within two days: a host keeps batches that long. A batch may be recorded more than once.
 */
export async function countViews(
  { bus, clock, sitesFeed }: Pick<GatewayContext, 'bus' | 'clock' | 'sitesFeed'>,
  { source, sequence, days }: SiteViewsBody,
): Promise<number> {
  const now = clock.now();
  const isNear = (day: string): boolean => day >= dayOf(now, -2) && day <= dayOf(now, 1);
  const byOrganization = new Map<string, Day[]>();
  for (const { site, ...counted } of days) {
    const found = isNear(counted.day) ? await countedSite(sitesFeed, site) : undefined;
    if (found === undefined) continue;
    const { organization, domain } = found;
    byOrganization.set(organization, [...(byOrganization.get(organization) ?? []), { domain, ...counted }]);
  }
  let accepted = 0;
  for (const [organization, counted] of byOrganization) {
    for (const [part, some] of inRecords(counted).entries()) {
      const id = `sv_${source}.${sequence}.${part}`;
      const time = now.toISOString();
      const record = { type: 'SitesViewed', version: 1, id, time, organization, source, sequence, days: some } as const;
      await askBus(bus.views.record(record));
      accepted += some.length;
    }
  }
  return accepted;
}

const dayOf = (now: Date, days: number): string => new Date(now.getTime() + days * dayMs).toISOString().slice(0, 10);

async function countedSite(sites: GatewayContext['sitesFeed'], site: string): Promise<ServedSite | undefined> {
  const [organization = '', domain = '', ...rest] = site.split('/');
  const found = rest.length === 0 ? await sites.liveSite(organization, domain) : undefined;
  return found?.counts === true ? found : undefined;
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
