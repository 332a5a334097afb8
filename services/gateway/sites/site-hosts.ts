import type { SiteHost } from '#shared/interfaces/read-models.ts';
import { ApiError } from '#shared/http/errors.ts';
import { siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { hourMs } from '#shared/runtime/time-and-ids.ts';
import { askBus } from '../ask-bus.ts';
import type { GatewayContext } from '../context.ts';
import { hostsOf } from './site-addresses.ts';

/*
 * A host name belongs to the site that its document in the bucket names, and that document changes only by a guarded write. Opening a site claims its
 * names, appends the command, and claims them once more (`confirmHosts`); a name is released only if the newest state of the site does not list it.
 * So concurrent commands about one site, or a gateway that dies between two steps, never leave a listed name without its claim.
 */

type HostsContext = Pick<GatewayContext, 'bus' | 'clock' | 'sitesBase'>;
type Claimant = Pick<SiteHost, 'organization' | 'domain'>;

/** A name that a claim has changed, with the document before it. */
export type ClaimedHost = { host: string; before: SiteHost | undefined };

/** Time for which a released name stays with its last site, because readers and caches still use it. */
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
): Promise<ClaimedHost[]> {
  const claimed: ClaimedHost[] = [];
  try {
    for (const host of hosts) {
      const stored = await askBus(context.bus.siteHosts.get(host, { fromLeader: true }));
      const isHeld = stored !== undefined && isSame(stored.document, claimant) && !isReleased(stored.document);
      if (!isHeld) claimed.push({ host, before: await claimHost(context, claimant, host) });
    }
  } catch (error) {
    await dropHosts(context, claimant, claimed);
    throw error;
  }
  return claimed;
}

/** Claims the names of an open site again, which cancels a release that was decided before the site listed them. Throws as `claimHosts`. */
export async function confirmHosts(context: HostsContext, claimant: Claimant, hosts: readonly string[]): Promise<void> {
  for (const host of hosts) await claimHost(context, claimant, host);
}

/** Writes the claim of a name. Returns the document before it. */
async function claimHost(context: HostsContext, claimant: Claimant, host: string): Promise<SiteHost | undefined> {
  const { bus, clock } = context;
  const { organization, domain } = claimant;
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const stored = await askBus(bus.siteHosts.get(host, { fromLeader: true }));
    const holder = stored?.document;
    if (holder !== undefined && !isSame(holder, claimant)) await checkIsFree(context, host, holder, claimant);
    const claim = { organization, domain, claimedAt: clock.now().toISOString() };
    const put = bus.siteHosts.put(host, claim, { expectedRevision: stored?.revision ?? 0 });
    if ((await askBus(put)) !== undefined) return holder;
  }
  throw new ApiError('unavailable', undefined, { retryAfterSeconds: 2 });
}

/** Releases names that the site no longer uses. Names of other sites, and names that the newest state of the site lists, stay. */
export async function releaseHosts(context: HostsContext, claimant: Claimant, hosts: readonly string[]): Promise<void> {
  const releasedAt = context.clock.now().toISOString();
  for (const host of hosts)
    await changeUnlisted(context, claimant, host, async (document, expectedRevision) => {
      if (isReleased(document)) return true;
      const put = context.bus.siteHosts.put(host, { ...document, releasedAt }, { expectedRevision });
      return (await askBus(put)) !== undefined;
    });
}

/** Undoes a failed claim. Names that were new are free at once, because nobody has seen them; a name that was released before is released again. */
export async function dropHosts(
  context: HostsContext,
  claimant: Claimant,
  claimed: readonly ClaimedHost[],
): Promise<void> {
  const { siteHosts } = context.bus;
  for (const { host, before } of claimed)
    await changeUnlisted(context, claimant, host, async (_document, expectedRevision) => {
      if (before === undefined || !isSame(before, claimant))
        return await askBus(siteHosts.remove(host, { expectedRevision }));
      return (await askBus(siteHosts.put(host, before, { expectedRevision }))) !== undefined;
    }).catch(() => {});
}

/** Changes the document of a name that the site has claimed and does not list. `change` returns false if another writer was first. */
async function changeUnlisted(
  context: HostsContext,
  claimant: Claimant,
  host: string,
  change: (document: SiteHost, revision: number) => Promise<boolean>,
): Promise<void> {
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    // The document is read before the site. If the site lists the name afterwards, it has claimed the name again, and the guarded write fails.
    const stored = await askBus(context.bus.siteHosts.get(host, { fromLeader: true }));
    if (stored === undefined || !isSame(stored.document, claimant)) return;
    if ((await siteOf(context, claimant)).lists(host)) return;
    if (await change(stored.document, stored.revision)) return;
  }
}

async function siteOf({ bus, sitesBase }: HostsContext, { organization, domain }: Claimant) {
  const last = await askBus(bus.sites.last(siteLogSubject(organization, domain), { fromLeader: true }));
  const state = last?.commit.data.state;
  return {
    lists: (host: string): boolean => state?.isOpen === true && hostsOf(sitesBase, state).includes(host),
    changedAt: last?.commit.time,
  };
}

const isSame = (a: Claimant, b: Claimant): boolean => a.organization === b.organization && a.domain === b.domain;

const isReleased = ({ releasedAt }: SiteHost): boolean => releasedAt !== undefined;

/** Throws `in_use` unless the name was released, or its claim failed, at least an hour ago. */
async function checkIsFree(context: HostsContext, host: string, holder: SiteHost, claimant: Claimant): Promise<void> {
  const site = await siteOf(context, holder);
  if (site.lists(host)) throw taken(host, holder, claimant, undefined);
  const { releasedAt, claimedAt = '' } = holder;
  const since = releasedAt ?? [claimedAt, site.changedAt ?? ''].toSorted().at(-1) ?? '';
  if (since !== '' && context.clock.now().getTime() - Date.parse(since) < releasedForMs)
    throw taken(host, holder, claimant, releasedAt);
}

function taken(host: string, holder: SiteHost, { organization }: Claimant, releasedAt: string | undefined): ApiError {
  const whose = holder.organization === organization ? `the domain "${holder.domain}"` : 'another organization';
  const free =
    releasedAt === undefined ? 'Choose another name.' : `It was released, and is free an hour after ${releasedAt}.`;
  return new ApiError('in_use', `The host name ${host} belongs to ${whose}. ${free}`);
}
