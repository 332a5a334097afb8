import type { Logger } from 'pino';
import type { z } from 'zod';
import type { ErrorCode } from '#shared/http/errors.ts';
import type { BusOf } from '#shared/messaging/bus.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';
import type { RateLimiter } from '#shared/http/rate-limit.ts';
import type { BusOutage } from './bus-outage.ts';
import type { GatewayConfig } from './config.ts';
import type { KeyDirectory } from './auth/key-directory.ts';
import type { KeyUses } from './auth/key-uses.ts';
import type { People } from './auth/people.ts';
import type { Organizations } from './directory/organizations.ts';
import type { AgentCounts } from './discovery/agent-counts.ts';
import type { SiteOutlines } from './discovery/site-outlines.ts';
import type { JobStatusFeed } from './exports/job-status-feed.ts';
import type { SitesBase } from '#shared/interfaces/http/sites-base.ts';
import type { SiteReaders } from './sites/site-readers.ts';
import type { SitesFeed } from './sites/sites-feed.ts';
import type { SitePages } from './exports/site-pages.ts';

export type SeenAnswer = { route: string } & (
  | { body: unknown; declared: z.ZodType | undefined }
  | { code: ErrorCode; declared: readonly ErrorCode[] }
);

/** Dependencies of the gateway's routes. */
export type GatewayContext = {
  config: Omit<GatewayConfig, 'natsUrl' | 'natsPassword'>;
  bus: BusOf<'gateway'>;
  busOutage: BusOutage;
  objectStore: ObjectStore;
  rateLimiter: RateLimiter;
  clock: Clock;
  /** Random base62 digits. */
  random: (length: number) => string;
  logger: Logger;
  metrics: Metrics;
  keys: KeyDirectory;
  keyUses: KeyUses;
  organizations: Organizations;
  /** Number of live gateways, this one included. */
  liveGateways: () => number;
  people: People;
  jobStatusFeed: JobStatusFeed;
  /** Page paths and groups of content versions. */
  sitePages: SitePages;
  /** Names, pages and navigation of content versions, for agents. */
  siteOutlines: SiteOutlines;
  agentCounts: AgentCounts;
  sitesBase: SitesBase;
  sitesFeed: SitesFeed;
  siteReaders: SiteReaders;
  /** Called with each answer. Tests compare it with the declaration of its route. */
  onAnswer?: (seen: SeenAnswer) => void;
  /** True once the gateway was told to stop. */
  draining: () => boolean;
  /** Aborts when the gateway stops, to end streams that would not end otherwise. */
  stopping: AbortSignal;
};
