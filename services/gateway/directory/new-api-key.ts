import { generateApiKey, parseApiKey } from '#shared/http/api-key.ts';
import type { ApiKey } from '#shared/aggregates/directory/directory.ts';
import type { CreateApiKeyBody } from '#shared/contracts/http/directory.ts';

const dayMs = 86_400_000;
const adminLifetimeDays = 90;

/** A key and its secret, which is not kept. */
export type NewApiKey = { apiKey: ApiKey; secret: string };

/** Admin keys live 90 days unless the request says otherwise. Assistant keys live for ever, because exported pages contain them. */
export function newApiKey(body: CreateApiKeyBody, now: Date, random: (length: number) => string): NewApiKey {
  const days = body.expiresInDays ?? (body.kind === 'admin' ? adminLifetimeDays : undefined);
  return withSecret(
    {
      kind: body.kind,
      name: body.name,
      scopes: [...new Set(body.scopes ?? (['read', 'write'] as const))],
      allowedAddresses: body.allowedAddresses,
      allowedOrigins: body.allowedOrigins,
      createdAt: now.toISOString(),
      ...(days === undefined ? {} : { expiresAt: new Date(now.getTime() + days * dayMs).toISOString() }),
    },
    random,
  );
}

/** A key with the rights of `old`, made for the same lifetime. */
export function renewedApiKey(old: ApiKey, now: Date, random: (length: number) => string): NewApiKey {
  const { id: _id, sha256: _sha256, expiresAt, revokedAt: _revokedAt, ...kept } = old;
  // A key that was rotated before ends early; it then gets the default lifetime.
  const lifetimeMs =
    old.kind === 'admin' || expiresAt !== undefined
      ? Math.max(Date.parse(expiresAt ?? '') - Date.parse(old.createdAt) || 0, adminLifetimeDays * dayMs)
      : undefined;
  return withSecret(
    {
      ...kept,
      createdAt: now.toISOString(),
      ...(lifetimeMs === undefined ? {} : { expiresAt: new Date(now.getTime() + lifetimeMs).toISOString() }),
    },
    random,
  );
}

function withSecret(key: Omit<ApiKey, 'id' | 'sha256'>, random: (length: number) => string): NewApiKey {
  const secret = generateApiKey(key.kind, random);
  const sha256 = parseApiKey(secret)?.sha256;
  if (sha256 === undefined) throw new Error('a generated key is not well-formed');
  return { apiKey: { id: `key_${random(16)}`, sha256, ...key }, secret };
}
