import { type Embedder, embedEach, inCalls } from '#shared/embedding/embedder.ts';
import type { SearchIndex, SearchScope } from '#shared/search/search-index.ts';

/** Wraps an index so that each version has vectors when its build is committed, and each question has one. The cost of vectors is printed. */
export function withVectors(index: SearchIndex, embedder: Embedder): SearchIndex {
  const { signal } = new AbortController();

  async function fillVectors(scope: SearchScope): Promise<void> {
    const build = await index.startVectors?.(scope, embedder.name, signal);
    if (build === undefined) return;
    const texts = [...build.missing].map(([digest, text]) => ({ digest, text }));
    const started = process.cpuUsage();
    for (const call of inCalls(texts, embedder)) {
      const vectors = await embedEach(
        embedder,
        call.map(({ text }) => text),
        signal,
      );
      await build.add(new Map(call.map(({ digest }, at) => [digest, vectors[at]])));
    }
    await build.commit();
    const { user, system } = process.cpuUsage(started);
    console.log(
      `${scope.domain}: vectors of ${texts.length} texts, ${((user + system) / 1e6).toFixed(1)} s of processor time`,
    );
  }

  return {
    ...index,
    async startBuild(scope, options) {
      const build = await index.startBuild(scope, options);
      return {
        ...build,
        async commit() {
          const count = await build.commit();
          await fillVectors(scope);
          return count;
        },
      };
    },
    async search(query) {
      const [vector] = await embedder.embed([query.query], signal);
      return index.search({ ...query, meaning: vector && { model: embedder.name, vector } });
    },
  };
}
