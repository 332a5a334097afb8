import { renderChild } from '#services/page-renderer/render-pages.ts';
import { readDocsProject } from '#shared/docs/project/read-docs-project.ts';
import type { ProjectFiles } from '#shared/docs/project/project-files.ts';
import { maxSourceBytes } from '#shared/docs/project/source-limits.ts';
import { pageSlice, type RenderOptions } from '#shared/docs/render/page-slice.ts';
import { expectedResponse, type ResponseTo } from '#shared/docs/render/expected-response.ts';
import type { RenderRequest, RenderResponse } from '#shared/docs/render/render-request.ts';
import { indexSite } from '#shared/docs/render/site-index.ts';
import { processorTimeMs, startChild } from '#shared/docs/sandbox/child.ts';
import type { FromChild } from '#shared/docs/sandbox/child-messages.ts';
import { sendRequest } from '#shared/docs/sandbox/child-request.ts';
import { withSnapshot } from '#shared/docs/sandbox/child-snapshot.ts';
import { packPages } from '#shared/export/bundle/packed-segment.ts';
import { medianOf, ratio, shown, table } from '../export/measurement.ts';

const pagesInChunk = 12;

type Costs = { here: number; child: number };

/** Processor time per page of this process and of a child: pages requested one by one and packed here, compared with whole chunks packed there. */
export async function chunkRequests(
  files: ProjectFiles,
  options: RenderOptions,
  { runs, mostPages, print }: { runs: number; mostPages: number; print: (text: string) => void },
): Promise<void> {
  const model = { ...(await readDocsProject(files)), contentVersion: `cv_${'0'.repeat(32)}` };
  const index = indexSite(model);
  const pages = await Promise.all(
    [...index.exported].slice(0, mostPages).map(async (path) => {
      const slice = pageSlice(index, path, options);
      return { slice, source: await files.read(slice.file, maxSourceBytes) };
    }),
  );
  const chunks = Array.from({ length: Math.ceil(pages.length / pagesInChunk) }, (_, at) =>
    pages.slice(at * pagesInChunk, (at + 1) * pagesInChunk),
  );
  const child = await startedChild(print);
  const ways = {
    async 'page by page'() {
      for (const chunk of chunks) {
        const answers: Extract<RenderResponse, { kind: 'page' }>[] = [];
        for (const page of chunk) {
          const answer = await child.ask({ kind: 'page', ...page, dependencies: {}, options });
          if (answer.kind === 'page') answers.push(answer);
        }
        const rendered = answers.flatMap((answer) => answer.files);
        await packPages(
          'docs',
          rendered,
          answers.map(({ page }) => page),
        );
      }
    },
    async 'by chunks'() {
      for (const chunk of chunks) await child.ask({ kind: 'chunk', domain: 'docs', pages: chunk, texts: {}, options });
    },
  };
  const costs: Record<keyof typeof ways, Costs[]> = { 'page by page': [], 'by chunks': [] };
  // The first round loads and compiles.
  for (let run = 0; run <= runs; run += 1) {
    for (const [name, work] of Object.entries(ways)) {
      const before = { here: ownMs(), child: child.usedMs() };
      await work();
      const used = { here: ownMs() - before.here, child: child.usedMs() - before.child };
      if (run > 0) costs[name as keyof typeof ways].push(used);
    }
  }
  child.end();
  const of = (name: keyof typeof ways, where: keyof Costs): number =>
    (medianOf(costs[name].map((cost) => cost[where])) ?? Number.NaN) / pages.length;
  const reference = of('page by page', 'here') + of('page by page', 'child');
  print(`\n== requests to a child: ${pages.length} pages; medians of ${runs}\n`);
  print(
    table(
      ['', 'CPU ms/page here', 'in the child', 'together'],
      (['page by page', 'by chunks'] as const).map((name) => [
        name,
        shown(of(name, 'here')),
        shown(of(name, 'child')),
        ratio(of(name, 'here') + of(name, 'child'), reference),
      ]),
    ),
  );
}

function ownMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function startedChild(print: (text: string) => void) {
  const program = await withSnapshot(renderChild, { info: print, warn: print });
  const ready = Promise.withResolvers<void>();
  let onMessage = (_message: FromChild): void => ready.resolve();
  const child = startChild({ ...program, memoryLimitMb: 512 }, (message) => onMessage(message));
  void child.ended.then((ended) => ready.reject(ended));
  await ready.promise;
  let id = 0;
  return {
    /** Includes the checks with which a service accepts a response from a child. */
    ask<R extends RenderRequest>(request: R): Promise<ResponseTo<R>> {
      const { promise, resolve, reject } = Promise.withResolvers<ResponseTo<R>>();
      id += 1;
      void child.ended.then(reject);
      ({ onMessage } = sendRequest(child, { id, request, expects: expectedResponse(request) }, (outcome) =>
        'failure' in outcome ? reject(outcome.failure) : resolve(outcome.response),
      ));
      return promise;
    },
    usedMs: () => processorTimeMs(child.pid()) ?? Number.NaN,
    end: () => child.kill(),
  };
}
