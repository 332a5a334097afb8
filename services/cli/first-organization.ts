import { apiClient } from './api-client.ts';
import type { LocalInstallation } from './connection.ts';

type CreatedOrganization = { organization: { id: string }; adminKey: { key: string } };

/** The organization, domain and keys that a fresh installation begins with, made through the public interface like any other. */
export async function createFirstOrganization(
  baseUrl: string,
  operatorToken: string,
): Promise<Omit<LocalInstallation, 'baseUrl' | 'operatorToken'>> {
  const operator = apiClient(baseUrl, operatorToken);
  const created = await operator.json<CreatedOrganization>('/v1/organizations', {
    method: 'POST',
    json: { name: 'Demo', plan: 'enterprise' },
  });
  const organization = created.organization.id;
  const domain = 'demo';
  await operator.json(`/v1/organizations/${organization}/domains`, {
    method: 'POST',
    json: { domain, hosts: [], groups: 'claimed' },
  });
  const admin = apiClient(baseUrl, created.adminKey.key);
  const assistant = await admin.json<{ key: string }>('/v1/api-keys', {
    method: 'POST',
    json: { kind: 'assistant', name: 'demo' },
  });
  return { organization, domain, adminKey: created.adminKey.key, assistantKey: assistant.key };
}
