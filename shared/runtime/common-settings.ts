import { z } from 'zod';
import type { InternalCaller, InternalService } from '#shared/contracts/internal/internal-call.ts';
import { callTokenVariable } from '#shared/contracts/internal/internal-calls.ts';
import { objectStoreSettings } from '#shared/storage/open-object-store.ts';
import { portNumber, secretSetting, setting } from './config.ts';

/** Name of a service in variables: `page-renderer` → `PAGE_RENDERER`. */
export const variableName = (service: string): string => service.toUpperCase().replaceAll('-', '_');

/** How a service reaches the bus. Its NATS user is the service's name. */
export const busSettings = (service: string) => ({
  natsUrl: setting(
    'BINDERY_NATS_URL',
    z.string().default('nats://127.0.0.1:4222'),
    'addresses of the NATS servers, comma-separated; tls:// insists on TLS',
  ),
  natsPassword: secretSetting(
    `BINDERY_NATS_PASSWORD_${variableName(service)}`,
    z.string().min(1),
    `password of the NATS user "${service}"`,
  ),
});

/** Where a service's own HTTP server listens; 0 takes a free port. */
export const internalServerSettings = (service: string) => ({
  host: setting(
    'BINDERY_INTERNAL_HOST',
    z.string().default('127.0.0.1'),
    'address that internal HTTP servers listen on',
  ),
  port: setting(
    `BINDERY_${variableName(service)}_PORT`,
    portNumber.default(0),
    `port of the ${service}'s internal HTTP server (health, metrics, and calls from other services if it takes any); 0: a free one`,
  ),
});

/** The secret that one service shows another. No third one has it, so what a service can ask for is what it needs. */
export const callTokenSetting = (caller: InternalCaller, service: InternalService) =>
  secretSetting(
    callTokenVariable(caller, service),
    z.string().min(16),
    `secret that the ${caller} shows the ${service}; 16 characters or more, for these two alone`,
  );

export const dataFolderSettings = {
  dataFolder: setting(
    'BINDERY_DATA',
    z.string().default('.bindery'),
    'folder for everything that the embedded adapters keep',
  ),
};

/**
 * Key of keyed hashes: job ids from idempotency keys, fingerprints, addresses in the audit. Changing it forgets idempotency keys and threads,
 * and the audit finds nothing older by its address.
 */
export const hashKeySettings = {
  hashKey: secretSetting(
    'BINDERY_HASH_KEY',
    z.string().min(16),
    'key of keyed hashes in the log; 16 characters or more, same for all services',
  ),
};

/** Key of the anchors of histories. Whoever writes logs must not have it; auditors need it to check anchors. */
export const auditKeySettings = {
  auditKey: secretSetting(
    'BINDERY_AUDIT_KEY',
    z.string().min(16),
    'key that the projector anchors histories with, so that "bindery audit verify" finds one that was rewritten; 16 characters or more, for no other service',
  ),
};

/** How Mistral is reached, which may write answers and make vectors. */
export const mistralSettings = {
  mistralApiKey: secretSetting(
    'BINDERY_MISTRAL_API_KEY',
    z.string().min(1).optional(),
    'API key of Mistral; with it passages and questions get vectors (BINDERY_EMBEDDING_MODEL), and the model "mistral" can write answers',
  ),
  mistralBaseUrl: setting(
    'BINDERY_MISTRAL_BASE_URL',
    z.url().default('https://api.mistral.ai/v1'),
    'address of Mistral, or of a server that speaks the same API',
  ),
};

/** What every service has: its user of the bus, its HTTP server, and the object store. */
export const serviceSettings = (service: string) => ({
  ...busSettings(service),
  ...internalServerSettings(service),
  ...objectStoreSettings,
});
