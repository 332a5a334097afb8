import { z } from 'zod';
import { copiesOf } from '#shared/docs/reference/remote-files.ts';
import type { Expected } from '#shared/docs/sandbox/child-request.ts';
import { Misfit } from '#shared/docs/sandbox/frames.ts';
import { bundlePathProblem } from '#shared/export/bundle/bundle-names.ts';
import { mostTargetsOfPage } from './changed-pages.ts';
import { pagePathOf, type ProjectFile } from './project-files.ts';
import type { DocsProject } from './read-docs-project.ts';
import { siteModelSchema } from './site-model.ts';

/**
 * Maximum number of files in one question: half of the files that are read at once, so that the child works on one half while the parent reads the
 * other.
 */
export const mostFilesInQuestion = 16;
/** Maximum wanted bytes of the files of one question together. A single file that can be in a bundle has at most this many. */
export const mostBytesInQuestion = 32 * 1024 * 1024;

/** Question of the child: the files that it wants. A child must not read uploads directly, so it never sees files of another organization. */
const fileQuestion = z
  .array(z.strictObject({ path: z.string(), maxBytes: z.int().min(0) }))
  .min(1)
  .max(mostFilesInQuestion);

/** A file that the child made for pages. */
const fileMade = z.strictObject({ made: z.strictObject({ sha256: z.string(), text: z.string() }) });

export const analysisQuestion = z.union([fileQuestion, fileMade]);

const mostReason = 10_000;

const analysisResponse = z.union([
  z.strictObject({
    project: siteModelSchema.omit({ contentVersion: true }),
    readings: z.custom<Uint8Array>((value) => value instanceof Uint8Array).optional(),
  }),
  z.strictObject({
    invalid: z.strictObject({ code: z.string().max(100), file: z.string(), message: z.string().max(mostReason) }),
  }),
]);

export type AnalyzeResponse = z.infer<typeof analysisResponse>;

const rereadResponse = z.union([
  z.strictObject({
    linkTargets: z.array(z.array(z.string()).max(mostTargetsOfPage)),
    readings: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  }),
  /** More than the link targets of the pages changed. */
  z.strictObject({ isMore: z.literal(true) }),
]);

export type RereadResponse = z.infer<typeof rereadResponse>;

/** Schema and check of the child's response to changed pages. */
export const expectedReread = (changed: readonly ProjectFile[]): Expected<RereadResponse> => ({
  schema: rereadResponse,
  verify(answer) {
    if ('linkTargets' in answer && answer.linkTargets.length !== changed.length)
      throw new Misfit('it gave the link targets of other pages');
  },
});

/** Schema and check of the child's response. `made` has the sizes in bytes of the files that were made for pages, by their hashes. */
export function expectedAnalysis(
  files: readonly ProjectFile[],
  made: ReadonlyMap<string, number>,
): Expected<AnalyzeResponse> {
  return {
    schema: analysisResponse,
    verify(answer) {
      if ('project' in answer) checkProject(answer.project, files, made);
    },
  };
}

/**
 * Limits of the values in a model. Every service that works for the organization reads it, so a small project must not have the model of a site with
 * 100,000 pages. An API description has a page for each operation.
 */
const mostValuesOfSite = 1_000_000;
const mostValuesOfFile = 1_000;

/** Number of lists, objects and plain values inside a value. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let values = 1;
  for (const inner of Object.values(value)) values += valuesIn(inner);
  return values;
}

/**
 * Throws `Misfit` if a model names anything except files of the project, each with its own hash, and files that were made for pages. Objects are
 * found by hash, so a foreign hash could reveal a restricted file of another project of the organization.
 */
function checkProject(project: DocsProject, files: readonly ProjectFile[], made: ReadonlyMap<string, number>): void {
  if (valuesIn(project) > mostValuesOfSite + mostValuesOfFile * files.length) {
    throw new Misfit('it made a site model that is too large for its project');
  }
  const fileOf = new Map(files.map((file) => [file.path, file]));
  const isOfProject = ({ path, sha256, sizeBytes }: ProjectFile): boolean => {
    const file = fileOf.get(path);
    return file !== undefined && file.sha256 === sha256 && file.sizeBytes === sizeBytes;
  };
  const isMade = ({ sha256, sizeBytes }: Omit<ProjectFile, 'path'>): boolean => made.get(sha256) === sizeBytes;
  /** A made page names the file that it was made from, or an address with a copy in the project. */
  const isSource = (file: string): boolean => [file, ...copiesOf(file)].some((path) => fileOf.has(path));
  const { snippets, specs, assets, styles, scripts, operations = [], pages } = project;
  for (const entries of [snippets, specs, assets, styles, scripts]) {
    if (!entries.every(isOfProject)) throw new Misfit('it named a file that is not one of its project');
    if (new Set(entries.map(({ path }) => path)).size < entries.length) throw new Misfit('it named a file twice');
  }
  if (!operations.every(isMade)) throw new Misfit('it named a file that it had not made');
  const paths = new Set<string>();
  for (const { path, file, sha256, sizeBytes } of pages) {
    const isOwn = isOfProject({ path: file, sha256, sizeBytes }) && path === pagePathOf(file);
    if (!isOwn && !(isSource(file) && isMade({ sha256, sizeBytes }))) {
      throw new Misfit('it named a page that is not one of its project');
    }
    if (paths.has(path) || bundlePathProblem(`${path}.html`) !== undefined) {
      throw new Misfit('it gave a page a path that it may not have');
    }
    paths.add(path);
  }
}
