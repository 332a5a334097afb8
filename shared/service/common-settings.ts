import { z } from 'zod';
import { proxyRanges } from '#shared/http/address-ranges.ts';
import type { InternalCaller, InternalService } from '#shared/interfaces/internal/internal-call.ts';
import { callTokenVariable } from '#shared/interfaces/internal/internal-calls.ts';
import { objectStoreSettings } from '#shared/storage/open-object-store.ts';
import { portNumber, secretSetting, setting } from '#shared/runtime/config.ts';

/** Name of a service in variables: `page-renderer` → `PAGE_RENDERER`. */
export const variableName = (service: string): string => service.toUpperCase().replaceAll('-', '_');

/** Settings of a service's connection to the bus. Its NATS user is the service's name. */
export const busSettings = (service: string) => ({
  natsUrl: setting(
    'BINDERY_NATS_URL',
    z.string().default('nats://127.0.0.1:4222'),
    'addresses of the NATS servers, comma-separated; tls:// requires TLS',
  ),
  natsPassword: secretSetting(
    `BINDERY_NATS_PASSWORD_${variableName(service)}`,
    z.string().min(1),
    `password of the NATS user "${service}"`,
  ),
});

/** A comma-separated list. Without a value it is empty. */
export const commaSeparated = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((part) => part.trim() || []));

export const trustProxySettings = {
  trustProxy: setting(
    'BINDERY_TRUST_PROXY',
    commaSeparated.refine(
      (parts) => parts.every((part) => proxyRanges(part).length > 0),
      'must be addresses and networks, or loopback, linklocal, uniquelocal',
    ),
    'addresses and networks of the proxies in front, comma-separated; only they may name the address of a client',
  ),
};

/** Address and port of a service's own HTTP server; 0 takes a free port. */
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

const callToken = z.string().min(16);

/** The secret that one service presents to another. Each pair has its own, so a service can make only the calls that it needs. */
export const callTokenSetting = (caller: InternalCaller, service: InternalService) =>
  secretSetting(
    callTokenVariable(caller, service),
    callToken,
    `secret that the ${caller} presents to the ${service}; 16 characters or more, used by these two only`,
  );

/** The same for calls without which both services work: an installation of an earlier version does not have the secret. */
export const optionalCallTokenSetting = (caller: InternalCaller, service: InternalService) =>
  secretSetting(
    callTokenVariable(caller, service),
    callToken.optional(),
    `secret that the ${caller} presents to the ${service}; 16 characters or more, used by these two only; without it these calls are refused`,
  );

export const dataFolderSettings = {
  dataFolder: setting('BINDERY_DATA', z.string().default('.bindery'), 'folder for all data of the embedded adapters'),
};

/**
 * Key of keyed hashes: job ids from idempotency keys, fingerprints, addresses in the audit. After a change, earlier idempotency keys and
 * threads are no longer recognized, and the audit finds no earlier entry by its address.
 */
export const hashKeySettings = {
  hashKey: secretSetting(
    'BINDERY_HASH_KEY',
    z.string().min(16),
    'key of keyed hashes in the log; 16 characters or more, same for all services',
  ),
};

/** Key of the anchors of histories. Services that write logs must not have it; auditors need it to check anchors. */
export const auditKeySettings = {
  auditKey: secretSetting(
    'BINDERY_AUDIT_KEY',
    z.string().min(16),
    'key with which the projector anchors histories, so that "bindery audit verify" detects rewritten ones; 16 characters or more, used by no other service',
  ),
};

/** Connection to Mistral, which can write answers and make vectors. */
export const mistralSettings = {
  mistralApiKey: secretSetting(
    'BINDERY_MISTRAL_API_KEY',
    z.string().min(1).optional(),
    'API key of Mistral; with it passages and questions get vectors (BINDERY_EMBEDDING_MODEL), and the model "mistral" can write answers',
  ),
  mistralBaseUrl: setting(
    'BINDERY_MISTRAL_BASE_URL',
    z.url().default('https://api.mistral.ai/v1'),
    'address of Mistral, or of a server with the same API',
  ),
};

/** Settings of every service: its user of the bus, its HTTP server, and the object store. */
export const serviceSettings = (service: string) => ({
  ...busSettings(service),
  ...internalServerSettings(service),
  ...objectStoreSettings,
});
