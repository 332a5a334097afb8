import type { ProjectFile, ProjectFiles } from '#shared/docs/project/project-files.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import type { SiteModel } from '#shared/docs/project/site-model.ts';
import type { MadeFile } from '#shared/docs/reference/site-reference.ts';
import { pageSlice, type RenderOptions } from '#shared/docs/render/page-slice.ts';
import type { PageInput } from '#shared/docs/render/render-page.ts';
import type { SiteIndex } from '#shared/docs/render/site-index.ts';

/** A project after its publication. */
export type PublishedProject = {
  model: SiteModel;
  /** Files of the project, and files that publication made for pages. */
  read: (file: Pick<ProjectFile, 'path' | 'sha256'>) => Promise<Uint8Array>;
  /** The input of a child that renders a page. */
  pageInput: (index: SiteIndex, path: string, options: RenderOptions) => Promise<PageInput>;
};

export async function publishedProject(files: ProjectFiles): Promise<PublishedProject> {
  const made = new Map<string, Buffer>();
  const keep = async ({ sha256, text }: MadeFile) => void made.set(sha256, Buffer.from(text));
  const model = { contentVersion: `cv_${'0'.repeat(32)}`, ...(await readDocsProject(files, keep)) };
  const read: PublishedProject['read'] = async ({ path, sha256 }) =>
    made.get(sha256) ?? files.read(path, Number.MAX_SAFE_INTEGER);
  return {
    model,
    read,
    async pageInput(index, path, options) {
      const slice = pageSlice(index, path, options);
      const dependencies: Record<string, string> = {};
      for (const file of slice.dependencies) dependencies[file.path] = Buffer.from(await read(file)).toString();
      return { slice, source: await read({ path: slice.file, sha256: slice.sha256 }), dependencies, options };
    },
  };
}
