import { setTimeout as delay } from 'node:timers/promises';
import type { DeploymentList, DeploymentView } from '#shared/interfaces/http/sites.ts';
import { type ApiClient, ApiFailure, retryWhileAway, sseData } from './api-client.ts';

const reconnectMs = 250;

/** All deployments of a site, newest first; or one that is new or changed. */
export type DeploymentNews = { kind: 'all'; list: DeploymentList } | { kind: 'one'; deployment: DeploymentView };

/**
 * Yields the deployments of a site, then each one that is new or changed, until the site is closed. A broken connection is reopened, and nothing is
 * yielded twice. `path`: that of the deployments. Rejects with `ApiFailure` when the domain has no site, or the server cannot be reached for a minute.
 */
export async function* followDeployments(client: ApiClient, path: string): AsyncGenerator<DeploymentNews> {
  const known = new Map<number, string>();
  const isNews = (deployment: DeploymentView): boolean => {
    const text = JSON.stringify(deployment);
    if (known.get(deployment.id) === text) return false;
    known.set(deployment.id, text);
    return true;
  };
  for (let isFirst = true; ; await delay(reconnectMs)) {
    let response: Response;
    try {
      response = await retryWhileAway(() => client.raw(path, { headers: { accept: 'text/event-stream' } }));
    } catch (error) {
      // The site was closed while nobody listened.
      if (!isFirst && error instanceof ApiFailure && error.status === 404) return;
      throw error;
    }
    try {
      for await (const data of sseData(response)) {
        const event = JSON.parse(data) as DeploymentList | DeploymentView;
        if (!('deployments' in event)) {
          if (isNews(event)) yield { kind: 'one', deployment: event };
          continue;
        }
        const changed = event.deployments.filter(isNews).toReversed();
        if (isFirst) yield { kind: 'all', list: event };
        else for (const deployment of changed) yield { kind: 'one', deployment };
        isFirst = false;
      }
    } catch (error) {
      // A broken connection is reopened; a broken event is an error.
      if (error instanceof SyntaxError) throw error;
    }
  }
}
