import { z } from 'zod';
import { diagnosticSchema } from '#shared/contracts/diagnostic.ts';
import { type PageText, renderedPageSchema } from '#shared/contracts/stored-objects.ts';
import { answerer, type Answerer, type Expected } from '#shared/docs/sandbox/child-request.ts';
import { Misfit } from '#shared/docs/sandbox/frames.ts';
import { bundlePathProblem, notFoundFile } from '#shared/export/bundle/bundle-names.ts';
import { isOfPage, isOfPages } from './bundle-paths.ts';
import { checkPacked, filesOfPage } from './check-packed.ts';
import type { ClosingQuestion, RenderRequest, RenderResponse } from './render-request.ts';
import { namesOfSite } from './site-index.ts';

/*
 * Checks of the responses of a rendering child. The child reads tenants' bytes, so it may have been taken over by them. Its service therefore uses
 * only the parts of a response that are checked here, and a child can affect only the pages and files of its own request.
 */

/** The response to a request of this kind. */
export type ResponseTo<R extends RenderRequest> = R['kind'] extends 'site' | 'isolated-file' | 'description'
  ? Extract<RenderResponse, { kind: 'files' }>
  : R['kind'] extends 'closing'
    ? Extract<RenderResponse, { kind: 'closed' }>
    : R['kind'] extends 'chunk'
      ? Extract<RenderResponse, { kind: 'packed' }>
      : R['kind'] extends 'checked'
        ? Extract<RenderResponse, { kind: 'checked' }>
        : Extract<RenderResponse, { kind: 'page' }>;

/** Limit of pictures in a page: one for each 4 KB of a source of 8 MB, and as many for its snippets. */
const mostPictures = 4_096;
const bytes = z.instanceof(Uint8Array);
const count = z.int().min(0);

const pageResponse = z.strictObject({
  kind: z.literal('page'),
  files: z.array(z.strictObject({ path: z.string(), body: z.string() })).max(4),
  pictures: z
    .array(z.strictObject({ path: z.string(), body: bytes }))
    .max(mostPictures)
    .optional(),
  page: renderedPageSchema,
});
const chunkResponse = z.strictObject({ kind: z.literal('packed'), segment: bytes, sidecar: bytes });
const place = { line: count.optional(), column: count.optional(), file: z.string().optional(), written: z.string() };
const checkedResponse = z.strictObject({
  kind: z.literal('checked'),
  pages: z.array(
    z.strictObject({
      path: z.string(),
      anchors: z.array(z.string()),
      diagnostics: z.array(diagnosticSchema),
      hasFeed: z.boolean(),
      htmlBytes: count,
      seen: z.strictObject({
        links: z.array(z.strictObject({ ...place, target: z.string() })),
        external: z.array(z.strictObject(place)),
        media: z.array(z.strictObject(place)),
      }),
    }),
  ),
});
const filesResponse = z.strictObject({
  kind: z.literal('files'),
  files: z.array(z.strictObject({ path: z.string(), body: bytes })),
});
const closedResponse = z.strictObject({
  kind: z.literal('closed'),
  lost: z.array(count),
  findings: z.strictObject({ errors: count, warnings: count }).optional(),
});

/** Returns the schema and checks for the response to this request. */
export function expectedResponse<R extends RenderRequest>(request: R): Expected<ResponseTo<R>> {
  return expected(request) as Expected<unknown> as Expected<ResponseTo<R>>;
}

function expected(request: RenderRequest) {
  switch (request.kind) {
    case 'page':
    case 'failed-page':
      return of(pageResponse, (answer) => checkPage(answer, request.slice.path));
    case 'chunk': {
      const { domain, pages } = request;
      const paths = pages.map(({ slice }) => slice.path);
      return of(chunkResponse, (answer) => checkPacked(answer, domain, paths));
    }
    case 'checked': {
      const paths = request.pages.map(({ slice }) => slice.path);
      return of(checkedResponse, ({ pages }) => {
        if (pages.map(({ path }) => path).join('\n') !== paths.join('\n'))
          throw new Misfit('it answered for other pages than it was asked for');
      });
    }
    case 'site':
      return of(filesResponse, ({ files }) => checkSite(files, request));
    case 'isolated-file':
      return of(filesResponse, ({ files }) => {
        if (files.length !== 1 || files[0]?.path !== request.path) throw new Misfit('it answered for another file');
      });
    case 'description':
      return of(filesResponse, ({ files }) => {
        // An empty list means that the file stays unchanged.
        const isIts = files.length === 0 ? request.source !== undefined : files.length === 1;
        if (!isIts || files.some(({ path }) => path !== request.path)) throw new Misfit('it answered for another file');
      });
    case 'closing':
      return of(closedResponse, ({ lost }) => {
        if (lost.some((run) => run >= request.runCount))
          throw new Misfit('it reported a segment as lost that does not exist');
      });
  }
}

const of = <T>(schema: z.ZodType<T>, verify: NonNullable<Expected<T>['verify']>): Expected<T> => ({ schema, verify });

function checkPage(answer: z.infer<typeof pageResponse>, path: string): void {
  const named = [...answer.files, ...(answer.pictures ?? [])].map((file) => file.path);
  const [html, markdown, ...further] = named;
  const isKnown = [html, markdown].join('\n') === filesOfPage(path).join('\n');
  const isOwn = new Set(further).size === further.length && further.every((file) => isOfPage(file, path));
  if (answer.page.path !== path || !isKnown || !isOwn) {
    throw new Misfit('it answered for another page or with other files than it was asked for');
  }
  const { page } = answer;
  for (const [text, length] of [
    ['search', page.searchBytes],
    ['fullText', page.fullTextBytes],
  ] satisfies [keyof PageText, number][]) {
    if (Buffer.byteLength(page[text]) !== length) throw new Misfit('it stated a wrong length of a page text');
  }
}

/** Matches generated files that only pages or the closing segment have. */
const closingFile =
  /^_bindery\/(?:(?:classes|math|playground)\.css|(?:diagrams|mermaid|islands|react|playground|search-index)\.js|(?:report|manifest)\.json|(?:fonts|search|playground)\/[\w-]{1,64}\.(?:woff2|js))$/;
const ownFile = /^_bindery\/(?:[\w-]{1,64}\/)?[\w-]{1,64}\.\w{1,8}$/;
const fullTextFile = 'llms-full.txt';

/** Accepts generated files, and files whose names belong to no page and no file of the project. */
function checkSite(
  files: readonly { path: string }[],
  { model, exported }: Extract<RenderRequest, { kind: 'site' }>,
): void {
  const { names } = namesOfSite(model, exported && new Set(exported));
  const own = new Set<string>();
  for (const { path } of files) {
    const isOwn = ownFile.test(path) && !closingFile.test(path) && !isOfPages(path);
    const isNew = isOwn || path === notFoundFile ? !own.has(path) : names.take(path) === undefined;
    if (!isNew || path === fullTextFile) throw new Misfit('it made a file that is not one of its own');
    own.add(path);
  }
}

const storedTextFields = { segment: count, of: z.enum(['search', 'fullText']), begin: count, end: count };
const mostPieceBytes = 64 * 1024 * 1024;
const mostTexts = 1_000_000;
const storedTexts = z.array(z.strictObject(storedTextFields)).max(mostTexts);

const closingQuestion: z.ZodType<ClosingQuestion> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('part'), run: count }),
  z.strictObject({ kind: z.literal('text'), ...storedTextFields }),
  z.strictObject({ kind: z.literal('begin'), path: z.string(), size: count }),
  z.strictObject({ kind: z.literal('bytes'), bytes: bytes.refine(({ length }) => length <= mostPieceBytes) }),
  z.strictObject({ kind: z.literal('texts'), texts: storedTexts }),
  z.strictObject({ kind: z.literal('short-sizes'), longest: count, texts: storedTexts }),
  z.strictObject({
    kind: z.literal('short'),
    longest: count,
    texts: storedTexts,
    made: z.array(bytes.refine(({ length }) => length <= mostPieceBytes).nullable()).max(mostTexts),
  }),
  z.strictObject({ kind: z.literal('end') }),
]);

/** Limits of the files of a closing segment beside its feeds: scripts, styles, fonts, and the parts of the search index. */
const mostClosingFiles = 20_000;
/** Limit of the bytes of a closing segment without the texts of pages. The manifest of 400,000 files has about 100 MB. */
const mostClosingBytes = 1024 * 1024 * 1024;
/** Number of times that the text of a page may be in the segment: in the search index, in `llms-full.txt` and in feeds. */
const mostTimesOfTexts = 3;

/** Limit of answers in memory at once, because the texts of one segment may have 60 MB. */
const closingAnswersAtOnce = 4;

/** The facts of a part that the answers need: the files in it that a child might make, and the size of its texts. */
export type PartFacts = { claimed: readonly string[]; textBytes: number; isLast: boolean };

/**
 * Answers the questions of a child that renders the closing segment. Only one order is accepted: first all parts of all runs of segments, then the
 * files of the segment, one by one, within the limits of number and size that follow from the parts. `pages`: the pages of the export. `factsOf`: the
 * facts of the part that was just given to the child, undefined if its run is lost. `isInFile`: true while a file is open. `missing`: the runs that
 * are lost. The child's own claim about them does not count, because their segments are rendered again.
 */
export function closingAnswers(
  { segmentCount, runCount, pages }: { segmentCount: number; runCount: number; pages: ReadonlySet<string> },
  factsOf: (run: number) => PartFacts | undefined,
  answer: (question: ClosingQuestion) => Promise<unknown>,
): Answerer & { isInFile: () => boolean; missing: () => number[] } {
  /** Runs whose parts the child is reading, or has read to the end. */
  const closed = new Set<number>();
  const taken = new Set<string>();
  const missing = new Set<number>();
  let given = 0;
  let isOpen = false;
  let begunFiles = 0;
  let room = mostClosingBytes;
  const check = (question: ClosingQuestion): void => {
    switch (question.kind) {
      case 'part':
        if (question.run >= runCount || closed.has(question.run)) {
          throw new Misfit('it asked for a part that does not exist, or for one twice');
        }
        closed.add(question.run);
        return;
      case 'text':
        checkText(question, segmentCount);
        return;
      case 'short-sizes':
        for (const text of question.texts) checkText(text, segmentCount);
        return;
      case 'short':
      case 'texts':
        if (!isOpen) throw new Misfit('it wrote without an open file');
        for (const text of question.texts) checkText(text, segmentCount);
        return;
      case 'begin':
        if (isOpen || given < runCount) throw new Misfit('it began a file too early');
        if (!isClosingFile(question.path, pages) || taken.has(question.path)) {
          throw new Misfit('it made a file that is not one of its own');
        }
        begunFiles += 1;
        room -= question.size;
        if (begunFiles > mostClosingFiles + pages.size) throw new Misfit('it made more files than a site has');
        if (room < 0) throw new Misfit('it made more bytes than a site has');
        taken.add(question.path);
        isOpen = true;
        return;
      case 'bytes':
      case 'end':
        if (!isOpen) throw new Misfit('it wrote without an open file');
        isOpen = question.kind === 'bytes';
    }
  };
  const checked = async (question: ClosingQuestion): Promise<unknown> => {
    check(question);
    const answered = await answer(question);
    if (question.kind === 'part') {
      const facts = factsOf(question.run);
      if (facts === undefined) missing.add(question.run);
      for (const path of facts?.claimed ?? []) taken.add(path);
      room += mostTimesOfTexts * (facts?.textBytes ?? 0);
      if (facts?.isLast === false) closed.delete(question.run);
      else given += 1;
    }
    return answered;
  };
  return {
    ...answerer(closingQuestion, checked, { atOnce: closingAnswersAtOnce }),
    isInFile: () => isOpen,
    missing: () => [...missing].sort((a, b) => a - b),
  };
}

function checkText(
  { segment, begin, end }: { segment: number; begin: number; end: number },
  segmentCount: number,
): void {
  if (segment >= segmentCount || begin > end) throw new Misfit('it asked for a text that does not exist');
}

const feedEnd = '/rss.xml';

/** True for paths of files in closing segments. The path of a feed may name a page that does not exist. */
export const isLikeClosingFile = (path: string): boolean =>
  closingFile.test(path) || path === fullTextFile || path.endsWith(feedEnd);

function isClosingFile(path: string, pages: ReadonlySet<string>): boolean {
  if (!isLikeClosingFile(path) || bundlePathProblem(path) !== undefined) return false;
  return !path.endsWith(feedEnd) || pages.has(path.slice(0, -feedEnd.length));
}
