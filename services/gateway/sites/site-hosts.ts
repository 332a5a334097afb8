import type { SiteHost } from '#shared/interfaces/read-models.ts';
import { ApiError } from '#shared/http/errors.ts';
import { hourMs } from '#shared/runtime/time-and-ids.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';

type HostsContext = Pick<GatewayContext, 'bus' | 'clock'>;
type Claimant = Pick<SiteHost, 'organization' | 'domain'>;

/** Time for which a released name stays with its last site. Readers and caches still lead to it. */
const releasedForMs = hourMs;

const mostAttempts = 5;

/**
 * Claims host names for a site: the first one to claim a name has it. Returns the names that the site did not have before. Throws `in_use` for a name
 * of another site, and claims nothing then.
 */
export async function claimHosts(
  context: HostsContext,
  claimant: Claimant,
  hosts: readonly string[],
): Promise<string[]> {
  const claimed: string[] = [];
  try {
    for (const host of hosts) if (await claimHost(context, claimant, host)) claimed.push(host);
  } catch (error) {
    await dropHosts(context, claimant, claimed);
    throw error;
  }
  return claimed;
}

async function claimHost({ bus, clock }: HostsContext, claimant: Claimant, host: string): Promise<boolean> {
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const stored = await askBus(bus.siteHosts.get(host, { fromLeader: true }));
    const holder = stored?.document;
    const isOwn = holder !== undefined && isSame(holder, claimant);
    if (isOwn && holder.releasedAt === undefined) return false;
    if (holder !== undefined && !isOwn && !isFree(holder, clock.now())) throw taken(host, holder, claimant);
    const { organization, domain } = claimant;
    const put = bus.siteHosts.put(host, { organization, domain }, { expectedRevision: stored?.revision ?? 0 });
    if ((await askBus(put)) !== undefined) return true;
  }
  throw new ApiError('unavailable', undefined, { retryAfterSeconds: 2 });
}

/** Releases names that the site does not use any more. A name of another site stays. */
export async function releaseHosts(
  { bus, clock }: HostsContext,
  claimant: Claimant,
  hosts: readonly string[],
): Promise<void> {
  for (const host of hosts) {
    const stored = await askBus(bus.siteHosts.get(host, { fromLeader: true }));
    if (stored === undefined || !isSame(stored.document, claimant) || stored.document.releasedAt !== undefined)
      continue;
    const released = { ...stored.document, releasedAt: clock.now().toISOString() };
    await askBus(bus.siteHosts.put(host, released, { expectedRevision: stored.revision }));
  }
}

/** Gives back names of a claim that came to nothing. Nobody has seen them, so they are free at once. */
export async function dropHosts({ bus }: HostsContext, claimant: Claimant, hosts: readonly string[]): Promise<void> {
  for (const host of hosts) {
    const stored = await askBus(bus.siteHosts.get(host, { fromLeader: true })).catch(() => undefined);
    if (stored === undefined || !isSame(stored.document, claimant)) continue;
    await askBus(bus.siteHosts.remove(host, { expectedRevision: stored.revision })).catch(() => {});
  }
}

const isSame = (a: Claimant, b: Claimant): boolean => a.organization === b.organization && a.domain === b.domain;

const isFree = ({ releasedAt }: SiteHost, now: Date): boolean =>
  releasedAt !== undefined && now.getTime() - Date.parse(releasedAt) >= releasedForMs;

function taken(host: string, holder: SiteHost, { organization }: Claimant): ApiError {
  const whose = holder.organization === organization ? `the domain "${holder.domain}"` : 'another organization';
  const free =
    holder.releasedAt === undefined
      ? 'Choose another name.'
      : `It was released, and is free an hour after ${holder.releasedAt}.`;
  return new ApiError('in_use', `The host name ${host} belongs to ${whose}. ${free}`);
}
