import { setTimeout as delay } from 'node:timers/promises';
import { ApiFailure, retryWhileAway } from '#services/cli/api-client.ts';
import type { PublishedContent } from '#shared/interfaces/http/content.ts';
import type { DeploymentList, DeploymentView, SiteView } from '#shared/interfaces/http/sites.ts';
import { type ChainProblem, verifyChain } from '#shared/messaging/log/commit-chain.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { siteLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { packTar } from './archives.ts';
import { askHost } from './ask-host.ts';
import { type HostProcess, startHostProcess } from './host-process.ts';
import type { TestInstallation } from './start-installation.ts';

/** Leaves out services that a site does not need. */
export const sitePathOnly = { indexer: 0, assistant: 0, housekeeper: 0 } as const;

/** Starts a host of all sites of an installation. */
export const startSiteHost = ({ installation }: Pick<TestInstallation, 'installation'>): Promise<HostProcess> =>
  startHostProcess({
    BINDERY_SITES: 'platform',
    BINDERY_SITES_KEY: installation.secrets.siteKey,
    BINDERY_PLATFORM_URL: installation.baseUrl,
  });

/** A project of two pages whose text has `mark`. `more`: further files. */
const markedProject = (mark: string, more: Record<string, string> = {}): Promise<Buffer<ArrayBuffer>> =>
  packTar({
    'docs.json': JSON.stringify({
      name: 'Live',
      theme: 'mint',
      colors: { primary: '#0d9373' },
      navigation: { pages: ['index', 'guide'] },
    }),
    'index.mdx': `---\ntitle: Start\n---\n\nMark ${mark}.\n`,
    'guide.mdx': `---\ntitle: Guide\n---\n\nGuide of mark ${mark}.\n`,
    ...more,
  });

type Owner = Pick<TestInstallation, 'admin' | 'domain' | 'organization' | 'installation'>;

/** The site of a domain, by the public interface. Calls are repeated while the gateway is unavailable. */
export function liveSite({ admin, domain, organization, installation }: Owner) {
  const path = `/v1/domains/${domain}`;
  const call = <T>(method: 'GET' | 'POST' | 'PUT', at: string, json?: object) =>
    retryWhileAway(() => admin.json<T>(`${path}${at}`, { method, ...(json !== undefined && { json }) }));
  const deployments = async (): Promise<DeploymentView[]> =>
    (await call<DeploymentList>('GET', '/deployments')).deployments;
  return {
    open: (body: object = {}) => call<SiteView>('PUT', '/site', body),
    /** Closes the site. Succeeds if it is closed already, because the answer to an earlier attempt may be lost. */
    close: () =>
      retryWhileAway(() => admin.raw(`${path}/site`, { method: 'DELETE' })).then(
        () => undefined,
        (error: unknown) => {
          if (!(error instanceof ApiFailure && error.status === 404)) throw error;
        },
      ),
    publish: async (mark: string, label?: string, more: Record<string, string> = {}): Promise<PublishedContent> => {
      const archive = await markedProject(mark, more);
      return await retryWhileAway(() =>
        admin.json<PublishedContent>(`${path}/content`, {
          method: 'PUT',
          headers: { 'content-type': 'application/gzip' },
          query: label === undefined ? {} : { version: label, preview: '1' },
          body: new Blob([archive]).stream(),
        }),
      );
    },
    promote: (contentVersion: string) => call<object>('POST', `/content/${contentVersion}/promote`),
    rollBack: (id: number) => call<DeploymentView>('POST', `/deployments/${id}/rollback`),
    deployments,
    /** Waits until nothing runs, and returns the deployments, newest first. */
    async settled(): Promise<DeploymentView[]> {
      for (;;) {
        const all = await deployments();
        if (all.every(({ status }) => status !== 'running' && status !== 'waiting')) return all;
        await delay(everyMs);
      }
    },
    /** Problems of the chain of hashes and sequences of its log. */
    async problems(): Promise<ChainProblem[]> {
      const bus = await connectBus({
        url: installation.natsUrl,
        service: 'gateway',
        password: installation.secrets.natsPasswords.gateway ?? '',
        instance: 'site-reader',
      });
      try {
        const subject = siteLogSubject(organization, domain);
        return verifyChain(subject, await bus.sites.texts(subject));
      } finally {
        await bus.close();
      }
    },
  };
}

export type LiveSite = ReturnType<typeof liveSite>;

const everyMs = 50;

/** The mark on the first page of a site at a host, or the status of the answer. */
export async function markAt(url: string, host: string, path = '/'): Promise<string> {
  const { status, text } = await askHost(url, host, path);
  return /[Mm]ark ([\w-]+)\./.exec(text)?.[1] ?? String(status);
}
