import { type ContentCommit, type ContentEvent, contentAggregate } from '#shared/aggregates/content/content.ts';
import { type ApiKey, directoryAggregate, type DirectoryEvent } from '#shared/aggregates/directory/directory.ts';
import { type ExportEvent, exportJobAggregate } from '#shared/aggregates/export-job/export-job.ts';
import { siteAggregate, type SiteEvent } from '#shared/aggregates/site/site.ts';
import type { Aggregate, Commit, CommitEvent } from '#shared/contracts/commit.ts';
import { nextCommit } from '#shared/messaging/log/commit-chain.ts';
import type { EventLog, StoredCommit } from '#shared/messaging/log/event-log.ts';
import {
  contentLogSubject,
  directoryLogSubject,
  exportLogSubject,
  siteLogSubject,
} from '#shared/messaging/subjects/subject-names.ts';
import { sha256Of } from '#shared/runtime/canonical-json.ts';
import { inParallel } from '#shared/runtime/in-parallel.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import { accessRecord, exportRequested, siteViewsRecord } from '../support/make-commit.ts';
import { threadWriter } from '../support/make-thread.ts';
import type { BusParts } from '#shared/messaging/bus.ts';

/** The history of a large organization, as its services would have written it over 90 days. */
export type HistorySizes = {
  jobs: number;
  keys: number;
  deployments: number;
  conversations: number;
  links: number;
  domains: number;
  contents: number;
  organizations: number;
};

/** The sizes that the console must bear. Together the logs have 100,000 audit entries. */
export const fullSizes: HistorySizes = {
  ...{ jobs: 10_000, keys: 10_000, deployments: 10_000, conversations: 10_000, links: 42_000 },
  ...{ domains: 200, contents: 500, organizations: 500 },
};

/** The organization with the history, and its domain with most of it. */
export const large = { organization: 'orbit', domain: 'docs' };
/** An organization without any history, for reference pages. */
export const small = { organization: 'pebble', domain: 'docs' };

const days = 90;
const appendedAtOnce = 32;
/** Keys that one commit creates. The directory keeps at most 500 keys, so those of earlier commits are revoked and forgotten. */
const keysAtOnce = 100;
const keptKeys = 500;
const chunksOfLargeJob = 5_000;
const factsAtOnce = 20;

const idOf = (prefix: string, digits: number, at: number): string => `${prefix}${String(at).padStart(digits, '0')}`;
export const jobIdAt = (at: number): string => idOf('se_', 22, at);
const keyIdAt = (at: number): string => idOf('key_', 16, at);
const contentAt = (at: number): string => `cv_${sha256Of(`content ${at}`).slice(0, 32)}`;
/** The place in a repository that content was published from: two of three times from a pull request. */
const sourceAt = (at: number) => ({
  commit: sha256Of(`commit ${at}`).slice(0, 40),
  branch: at % 3 === 1 ? 'main' : `docs/rewrite-${at}`,
  ...(at % 3 === 2 && { pullRequest: 100 + at }),
});
const domainAt = (at: number): string => (at === 0 ? large.domain : idOf('product-', 3, at));

type Log<C extends Commit> = Pick<EventLog<C>, 'append'>;

/** Appends the commits of one aggregate, one after the other. */
function writer<E extends CommitEvent, S>(
  log: Log<Commit<E, S>>,
  { evolve, commitIdPrefix }: Pick<Aggregate<E, S>, 'evolve' | 'commitIdPrefix'>,
  subject: string,
) {
  let previous: StoredCommit<Commit<E, S>> | undefined;
  return async (time: Date, actorId: string, events: E[]): Promise<void> => {
    const actor = actorId.startsWith('key_')
      ? { kind: 'key' as const, id: actorId }
      : actorId.includes('@')
        ? { kind: 'person' as const, id: actorId }
        : { kind: 'service' as const, id: actorId };
    let state = previous?.commit.data.state;
    for (const event of events) state = evolve(state, event, { time: time.toISOString(), actor });
    if (state === undefined) throw new Error(`${subject} got no events`);
    const id = `${commitIdPrefix}_${sha256Of(`${subject} ${previous?.commit.revision ?? 0}`).slice(0, 22)}`;
    const requestId = `req_${sha256Of(`${subject} ${time.toISOString()}`).slice(0, 22)}`;
    const origin = { id, source: 'bench', actor, time, causationId: requestId, correlationId: requestId };
    previous = await log.append(nextCommit(subject, previous, events, state, origin), {
      sequence: previous?.sequence ?? 0,
    });
  };
}

const apiKey = (at: number, createdAt: Date): ApiKey => ({
  id: keyIdAt(at),
  kind: at % 5 === 0 ? 'assistant' : 'admin',
  name: `${['CI', 'Site', 'Staging', 'Nightly export', 'Support desk'][at % 5]} ${at}`,
  sha256: sha256Of(`key ${at}`),
  scopes: ['read', 'write'],
  allowedAddresses: at % 3 === 0 ? ['203.0.113.0/24'] : [],
  allowedOrigins: [],
  createdAt: createdAt.toISOString(),
});

/** The logs that have the history, each with the rights of its writer. */
export type HistoryLogs = Pick<
  BusParts,
  'directory' | 'content' | 'sites' | 'exports' | 'threads' | 'access' | 'views'
>;

/** Writes the history, which ends at a time. `say` gets progress. */
export async function writeHistory(
  logs: HistoryLogs,
  sizes: HistorySizes,
  end: Date,
  say: (text: string) => void = () => {},
): Promise<void> {
  const startMs = end.getTime() - days * dayMs;
  /** The time at a share of the history. */
  const at = (index: number, count: number): Date => new Date(startMs + Math.floor((index / count) * days * dayMs));
  const { organization } = large;
  const person = (index: number): string => `${['ada', 'grace', 'linus', 'mary'][index % 4]}@orbit.example`;

  say('organizations, domains and keys');
  const directory = (name: string) => writer(logs.directory, directoryAggregate, directoryLogSubject(name));
  const created = (name: string): DirectoryEvent => ({
    type: 'OrganizationCreated',
    version: 1,
    data: { organization: name, name: `${name[0]?.toUpperCase()}${name.slice(1)}`, plan: 'enterprise' },
  });
  const domainAdded = (name: string, slug: string): DirectoryEvent => ({
    type: 'DomainAdded',
    version: 1,
    data: { organization: name, domain: { slug, hosts: [`${slug}.${name}.example`], groups: 'claimed' } },
  });
  const others = Array.from({ length: sizes.organizations }, (_, index) => idOf('team-', 4, index));
  await inParallel([small.organization, ...others], appendedAtOnce, async (name) => {
    const domains = name === small.organization ? ['docs'] : ['docs', 'api', 'blog'];
    await directory(name)(new Date(startMs), 'operator', [
      created(name),
      ...domains.map((slug) => domainAdded(name, slug)),
    ]);
  });
  const append = directory(organization);
  await append(new Date(startMs), 'operator', [created(organization)]);
  for (let first = 0; first < sizes.keys; first += keysAtOnce) {
    const time = at(first, sizes.keys);
    const range = (from: number) => Array.from({ length: keysAtOnce }, (_, index) => from + index);
    const gone = first < keptKeys ? [] : range(first - keptKeys);
    await append(time, person(first / keysAtOnce), [
      ...gone.map(
        (key): DirectoryEvent => ({
          type: 'ApiKeyRevoked',
          version: 1,
          data: { organization, keyId: keyIdAt(key) },
        }),
      ),
      ...(gone.length === 0
        ? []
        : [
            {
              type: 'ApiKeysForgotten' as const,
              version: 1 as const,
              data: {
                organization,
                keys: gone.map((key) => ({
                  id: keyIdAt(key),
                  sha256: sha256Of(`key ${key}`),
                  endedAt: time.toISOString(),
                })),
              },
            },
          ]),
      ...range(first).map(
        (key): DirectoryEvent => ({
          type: 'ApiKeyCreated',
          version: 1,
          data: { organization, key: apiKey(key, time) },
        }),
      ),
    ]);
  }
  const domains = Array.from({ length: sizes.domains }, (_, index) => domainAt(index));
  await append(
    at(1, 1),
    'operator',
    domains.map((slug) => domainAdded(organization, slug)),
  );

  say('contents');
  const published = (domain: string, index: number, label?: string): ContentEvent => ({
    type: 'ContentPublished',
    version: 1,
    data: {
      ...{ organization, domain, contentVersion: contentAt(index), pageCount: 120 + index, fileCount: 130 },
      ...{ sizeBytes: 400_000, ...(label === undefined ? {} : { label }) },
      ...(index % 3 === 0 ? {} : { source: sourceAt(index) }),
    },
  });
  await inParallel(domains, appendedAtOnce, async (domain, which) => {
    const log: Log<ContentCommit> = logs.content;
    const write = writer(log, contentAggregate, contentLogSubject(organization, domain));
    const count = which === 0 ? sizes.contents : 3;
    for (let index = 0; index < count; index += 1) {
      const label = index % 2 === 0 && index < 400 ? `branch-${index}` : undefined;
      await write(at(index, count), person(index), [published(domain, index, label)]);
    }
  });

  say('sites and deployments');
  await inParallel(domains, appendedAtOnce, async (domain, which) => {
    const write = writer(logs.sites, siteAggregate, siteLogSubject(organization, domain));
    const count = which === 0 ? sizes.deployments : 3;
    const opened: SiteEvent = {
      type: 'SiteOpened',
      version: 1,
      data: {
        organization,
        domain,
        name: `${organization}-${domain}`,
        hosts: [],
        previews: true,
        organizationPlan: 'enterprise',
      },
    };
    await write(at(0, count), person(which), [opened]);
    for (let index = 0; index < count; index += 1) {
      const number = index + 1;
      const isFailed = index % 25 === 7;
      const ofSite = { organization, domain, deployment: number };
      await write(at(index, count), person(index), [
        {
          type: 'DeploymentRequested',
          version: 1,
          data: {
            ...{
              ...ofSite,
              contentVersion: contentAt(index % sizes.contents),
              jobId: jobIdAt(index),
              cause: 'published',
            },
            keptEnded: 5,
          },
        },
        isFailed
          ? {
              type: 'DeploymentFailed',
              version: 1,
              data: { ...ofSite, error: 'guides/install.mdx cannot be rendered' },
            }
          : {
              type: 'DeploymentLive',
              version: 1,
              data: { ...ofSite, sha256: sha256Of(`${index}`), sizeBytes: 4_000_000 },
            },
      ]);
    }
  });

  say('exports');
  const planned = (chunkCount: number, pageTotal: number): ExportEvent => ({
    type: 'PagesPlanned',
    version: 1,
    data: { planHash: '1'.repeat(64), rendererVersion: 'r-000000000000', chunkCount, pageTotal },
  });
  await inParallel(Array.from({ length: sizes.jobs }), appendedAtOnce, async (_, index) => {
    const jobId = jobIdAt(index);
    const write = writer(logs.exports, exportJobAggregate, exportLogSubject(organization, jobId));
    const time = at(index, sizes.jobs);
    const domain = domains[index % 20] ?? large.domain;
    const request = exportRequested({ organization, jobId, domain, contentVersion: contentAt(index % sizes.contents) });
    const isLarge = index === sizes.jobs - 1;
    const chunkCount = isLarge ? chunksOfLargeJob : 10;
    await write(time, person(index), [request, planned(chunkCount, chunkCount * 10)]);
    const later = (ms: number) => new Date(time.getTime() + ms);
    const chunksInCommits = isLarge ? chunkCount : 0;
    for (let first = 0; first < chunksInCommits; first += factsAtOnce)
      await write(
        later(1_000 + first * 20),
        'orchestrator',
        Array.from({ length: factsAtOnce }, (__, fact) => ({
          type: 'ChunkRendered' as const,
          version: 1 as const,
          data: {
            ...{ chunk: first + fact, pageCount: 10, attempt: 1, renderer: `page-renderer-${fact % 4}`, reused: false },
            durationMs: 80,
          },
        })),
      );
    await write(later(120_000), 'orchestrator', [
      index % 10 === 3
        ? {
            type: 'ExportFailed',
            version: 1,
            data: { error: 'guides/install.mdx cannot be rendered', failedPageCount: 1 },
          }
        : {
            type: 'ExportCompleted',
            version: 1,
            data: {
              ...{ bundleKey: `bundles/${jobId}`, sizeBytes: 4_000_000 },
              ...{ sha256: sha256Of(jobId), manifestSha256: '3'.repeat(64) },
            },
          },
    ]);
  });

  say('signed links');
  await inParallel(Array.from({ length: sizes.links }), appendedAtOnce, (_, index) =>
    logs.access.record(
      accessRecord({
        ...{ organization, id: idOf('al_', 22, index), jobId: jobIdAt(index % sizes.jobs), domain: large.domain },
        ...{ time: at(index, sizes.links).toISOString(), requestId: idOf('req_', 22, index) },
        actor: { kind: 'key', id: keyIdAt(sizes.keys - 1 - (index % Math.min(sizes.keys, keptKeys))) },
      }),
    ),
  );

  say('conversations');
  const threads = threadWriter(logs.threads, organization, large.domain);
  await inParallel(Array.from({ length: sizes.conversations }), appendedAtOnce, async (_, index) => {
    const threadId = idOf('th_', 22, index);
    const messageId = idOf('msg_', 22, index);
    const time = at(index, sizes.conversations).toISOString();
    const unanswered = index % 8 === 1;
    await threads.answered(threadId, time, {
      ...{ messageId, unanswered },
      question: `${unanswered ? 'Does it support' : 'How do I configure'} feature ${words(index % 700)}?`,
      sources: unanswered ? [] : [{ path: `/guides/page-${index % 400}`, title: `Guide ${index % 400}` }],
    });
    if (index % 20 === 2)
      await threads.rated(threadId, time, {
        ...{ messageId, rating: index % 40 === 2 ? 'down' : 'up', answeredAt: time },
        comment: 'It names an option that does not exist.',
      });
  });

  say('page views');
  for (let day = 0; day < days; day += 1)
    await logs.views.record(
      siteViewsRecord({
        organization,
        sequence: day + 1,
        day: at(day, days).toISOString().slice(0, 10),
        days: [
          {
            ...{ domain: large.domain, day: at(day, days).toISOString().slice(0, 10), views: 4_000, referred: 0 },
            paths: Array.from({ length: 1_000 }, (_, page) => [`/guides/page-${page}`, 4]),
            ...{ referrers: [], searches: 300, emptySearches: 20 },
            queries: Array.from({ length: 300 }, (_, query) => [words(query), 1, 0]),
          },
        ],
      }),
    );
}

/** A number as words, because questions with the same words count as one. */
const words = (number: number): string => Array.from(String(number), (digit) => names[Number(digit)] ?? '').join(' ');
const names = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
