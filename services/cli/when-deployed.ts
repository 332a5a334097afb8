import { setTimeout as delay } from 'node:timers/promises';
import type { DeploymentList, DeploymentView, SiteView } from '#shared/interfaces/http/sites.ts';
import { type ApiClient, foundOrNone } from './api-client.ts';

/** A deployment failed or took too long; the message says which. */
export class DeploymentDidNotSucceed extends Error {
  override name = 'DeploymentDidNotSucceed';
}

const shortestPauseMs = 100;
const longestPauseMs = 2_000;
const withinMs = 15 * 60_000;
/** Time limit for the platform to begin the deployment of a publication. */
const beginsWithinMs = 15_000;

/**
 * Resolves when readers see a deployment, or a later one that replaced it: the one with that number, else the newest of that content and label.
 * Resolves to undefined if the domain has no site, or nothing to deploy. Rejects with `DeploymentDidNotSucceed`.
 */
export async function whenDeployed(
  client: ApiClient,
  domain: string,
  wanted: { id?: number; contentVersion?: string; label?: string | undefined },
): Promise<DeploymentView | undefined> {
  if (wanted.label !== undefined && !(await hasPreviews(client, domain))) return undefined;
  const startedAt = performance.now();
  for (;;) {
    const list = await deploymentsOf(client, domain);
    if (list === undefined) return undefined;
    const found = list.deployments.find(
      (each) =>
        (wanted.id === undefined || each.id === wanted.id) &&
        each.label === wanted.label &&
        (wanted.contentVersion === undefined || each.contentVersion === wanted.contentVersion),
    );
    const elapsedMs = performance.now() - startedAt;
    if (found === undefined && elapsedMs > beginsWithinMs) return undefined;
    switch (found?.status) {
      case 'live':
      case 'replaced':
      case 'superseded':
      case 'ended':
        return found;
      case 'failed':
        throw new DeploymentDidNotSucceed(
          `Deployment ${found.id} failed, and ${readersNow(list, found.label)}: ${found.error ?? ''}`,
        );
      case 'waiting':
      case 'running':
      case undefined:
    }
    if (elapsedMs > withinMs)
      throw new DeploymentDidNotSucceed(
        `The deployment was not live within ${withinMs / 60_000} minutes. It continues: "bindery site deployments" shows it.`,
      );
    // A twentieth of the time so far, so that the pauses lengthen a deployment by no more than that.
    await delay(Math.min(longestPauseMs, Math.max(shortestPauseMs, elapsedMs / 20)));
  }
}

const readersNow = ({ deployments }: DeploymentList, label: string | undefined): string =>
  deployments.some((each) => each.label === label && each.status === 'live')
    ? 'readers see the previous one'
    : 'readers see nothing yet';

const hasPreviews = async (client: ApiClient, domain: string): Promise<boolean> =>
  (await foundOrNone<SiteView>(client, `/v1/domains/${encodeURIComponent(domain)}/site`))?.previews ?? false;

async function deploymentsOf(client: ApiClient, domain: string): Promise<DeploymentList | undefined> {
  return await foundOrNone<DeploymentList>(client, `/v1/domains/${encodeURIComponent(domain)}/deployments`);
}
