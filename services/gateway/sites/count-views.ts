import type { ServedSite } from '#shared/interfaces/http/sites.ts';
import type { SiteViewsBody } from '#shared/interfaces/http/site-views.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import type { GatewayContext } from '../context.ts';
import { type Day, recordDays } from './record-days.ts';

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
  for (const [organization, counted] of byOrganization)
    await recordDays(bus, { organization, source, sequence, time: now.toISOString() }, counted);
  return [...byOrganization.values()].reduce((sum, { length }) => sum + length, 0);
}

const dayOf = (now: Date, days: number): string => new Date(now.getTime() + days * dayMs).toISOString().slice(0, 10);

async function countedSite(sites: GatewayContext['sitesFeed'], site: string): Promise<ServedSite | undefined> {
  const [organization = '', domain = '', ...rest] = site.split('/');
  const found = rest.length === 0 ? await sites.liveSite(organization, domain) : undefined;
  return found?.counts === true ? found : undefined;
}
