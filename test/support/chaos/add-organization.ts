import { type ApiClient, apiClient } from '#services/cli/api-client.ts';
import { createFirstOrganization } from '#services/cli/first-organization.ts';
import type { Publication } from '#services/cli/publish-project.ts';
import type { TestInstallation } from '../start-installation.ts';
import { generatedProject } from './generated-project.ts';

export type Organization = { organization: string; domain: string; admin: ApiClient; adminKey: string };

/** Another enterprise organization of an installation, with a domain that has a generated site of so many pages. */
export async function addOrganization(
  { installation }: Pick<TestInstallation, 'installation'>,
  siteName: string,
  pageCount: number,
): Promise<Organization> {
  const { baseUrl, secrets } = installation;
  const { organization, domain, adminKey } = await createFirstOrganization(baseUrl, secrets.operatorToken);
  const admin = apiClient(baseUrl, adminKey);
  await admin.json<Publication>(`/v1/domains/${domain}/content`, {
    method: 'PUT',
    headers: { 'content-type': 'application/gzip' },
    body: new Blob([await generatedProject(siteName, pageCount)]).stream(),
  });
  return { organization, domain, admin, adminKey };
}
