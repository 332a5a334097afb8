import { blobKey, siteModelKey } from '#shared/contracts/stored-objects.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import type { SearchScope } from '#shared/search/search-index.ts';
import type { ObjectStore } from '#shared/storage/object-store.ts';

/** Stores a project's files and site model as publication does. */
export async function storeProject(
  objectStore: ObjectStore,
  scope: SearchScope,
  project: ProjectFiles,
): Promise<SiteModel> {
  const put = (sha256: string, bytes: Uint8Array) => objectStore.put(blobKey(scope.organization, sha256), bytes);
  const read = await readDocsProject(project, ({ sha256, text }) => put(sha256, Buffer.from(text)));
  for (const { path, sha256, sizeBytes } of project.files) await put(sha256, await project.read(path, sizeBytes));
  const model = { ...read, contentVersion: scope.contentVersion };
  await objectStore.put(siteModelKey(scope), Buffer.from(JSON.stringify(model)));
  return model;
}
