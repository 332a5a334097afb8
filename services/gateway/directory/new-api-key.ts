import { generateApiKey, parseApiKey } from '#shared/http/api-key.ts';
import { latestEnd } from '#shared/aggregates/directory/key-rights.ts';
import type { ApiKey } from '#shared/aggregates/directory/directory.ts';
import {
  type CreateApiKeyBody,
  type CreatedApiKey,
  type RotateApiKeyBody,
  toShownApiKey,
} from '#shared/interfaces/http/directory.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';

const usualLifeMs = 90 * dayMs;

/** A key and its secret, which is not stored. */
export type NewApiKey = { apiKey: ApiKey; secret: string };

/**
 * A key as requested. Missing fields are taken from the key that makes it, `maker`; the first key of an organization has none. Admin keys live 90
 * days by default, but no longer than their maker. Assistant keys have no expiry, because exported pages contain them, unless their maker was made
 * for a short life.
 */
export function newApiKey(
  body: CreateApiKeyBody,
  now: Date,
  random: (length: number) => string,
  maker?: ApiKey,
): NewApiKey {
  const { scopes, allowedAddresses, allowedOrigins }: Pick<ApiKey, 'scopes' | 'allowedAddresses' | 'allowedOrigins'> =
    maker ?? {
      scopes: ['read', 'write'],
      allowedAddresses: [],
      allowedOrigins: [],
    };
  const usualEnd = body.kind === 'admin' ? after(now, usualLifeMs) : undefined;
  const latest = maker === undefined ? undefined : latestEnd(maker, body.kind);
  const expiresAt =
    body.expiresInDays === undefined ? earliest(usualEnd, latest) : after(now, body.expiresInDays * dayMs);
  return withSecret(
    {
      kind: body.kind,
      name: body.name,
      // The scope `export` means nothing for an assistant key.
      scopes: [...new Set(body.scopes ?? scopes.filter((each) => each !== 'export' || body.kind === 'admin'))],
      allowedAddresses: [...(body.allowedAddresses ?? allowedAddresses)],
      allowedOrigins: [...(body.allowedOrigins ?? allowedOrigins)],
      createdAt: now.toISOString(),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    },
    random,
  );
}

/** A key with the rights of `old`, and with its expiry unless the request gives another. */
export function renewedApiKey(
  old: ApiKey,
  { expiresInDays }: Pick<RotateApiKeyBody, 'expiresInDays'>,
  now: Date,
  random: (length: number) => string,
): NewApiKey {
  const { id: _id, sha256: _sha256, revokedAt: _revokedAt, ...kept } = old;
  const end = expiresInDays === undefined ? {} : { expiresAt: after(now, expiresInDays * dayMs) };
  return withSecret({ ...kept, createdAt: now.toISOString(), ...end }, random);
}

/** The answer that contains the secret. */
export const shownOnce = ({ apiKey, secret }: NewApiKey): CreatedApiKey => ({ ...toShownApiKey(apiKey), key: secret });

const after = (now: Date, ms: number): string => new Date(now.getTime() + ms).toISOString();

/** The earlier of two times; undefined means never. ISO times of the same form sort as text. */
function earliest(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

function withSecret(key: Omit<ApiKey, 'id' | 'sha256'>, random: (length: number) => string): NewApiKey {
  const secret = generateApiKey(key.kind, random);
  const sha256 = parseApiKey(secret)?.sha256;
  if (sha256 === undefined) throw new Error('a generated key is not well-formed');
  return { apiKey: { id: `key_${random(16)}`, sha256, ...key }, secret };
}
