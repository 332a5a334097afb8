import { setTimeout as wait } from 'node:timers/promises';
import { hourMs } from '#shared/runtime/time-and-ids.ts';
import { unlikeElasticsearch, type ElasticsearchIndex, refusalStatus } from './elasticsearch-connection.ts';
import {
  type GuardedDocument,
  removeWhere,
  searchDocuments,
  storedDocument,
  unchangedSince,
} from './elasticsearch-documents.ts';
import {
  buildName,
  type BuildsDocument,
  buildsId,
  type BuildUse,
  earlierBuildName,
  routingOf,
  firstBuildName,
  type VersionDocument,
} from './elasticsearch-schema.ts';
import { type SearchScope, SearchUnavailable } from '#shared/search/search-index.ts';

/*
 * Versions share documents, and several processes may build, replace and remove versions of a domain at the same time. So one document per domain
 * lists the builds in use, and every change of it is a guarded write:
 * - A build is registered, with its base, before it writes anything. The base has to be in use.
 * - A build is deleted only after a change left it unused. It cannot be used again, so it can be deleted at any later time.
 * - A build of a process that died is registered and not searched. A later change removes it, once no such process can still run.
 */

/** Limit of the duration of a build. */
export const longestBuildMs = 2 * hourMs;
const abandonedAfterMs = 2 * longestBuildMs;
const earlierKeptMs = 7 * 24 * hourMs;

const storeWithinMs = 30_000;
const mostConflicts = 50;
const conflictPauseMs = 20;

type State = Pick<BuildsDocument, 'uses' | 'left' | 'vectorsOf' | 'begun'>;

/** Registers a build and its base as in use. False, without a change, when the base is no longer in use. */
export async function registerBuild(index: ElasticsearchIndex, scope: SearchScope, use: BuildUse): Promise<boolean> {
  const after = await change(index, scope, (state) => {
    const isPossible = use.base === undefined || state.uses.some((other) => buildsOf(other).includes(use.base ?? ''));
    return isPossible && !isIn(use.build, state) ? { ...state, uses: [...state.uses, use] } : state;
  });
  return isIn(use.build, after);
}

/** False for a build whose version was removed since it was registered. */
export async function isRegistered(index: ElasticsearchIndex, scope: SearchScope, build: string): Promise<boolean> {
  return isIn(build, (await stored(index, scope))?.document ?? nothingYet());
}

/**
 * Takes these builds, and those of dead processes, out of use, and deletes the builds that are then unused. Returns the uses that remain. `vectors`:
 * the treatment of the vectors of the deleted builds; `copied` also deletes vectors that were kept before.
 */
export async function releaseBuilds(
  index: ElasticsearchIndex,
  scope: SearchScope,
  isOver: (use: BuildUse) => boolean,
  vectors: 'deleted' | 'kept' | 'copied',
): Promise<readonly BuildUse[]> {
  const abandonedBefore = Date.now() - abandonedAfterMs;
  const { uses: before } = (await stored(index, scope))?.document ?? nothingYet();
  const isOld = ({ since }: BuildUse): boolean => since < abandonedBefore;
  const searched = before.some(isOld) ? await searchedBuilds(index, scope) : new Set<string>();
  const { uses, left, vectorsOf, begun } = await change(index, scope, (state) => {
    const kept = state.uses.filter((use) => !isOver(use) && (!isOld(use) || searched.has(use.build)));
    const needed = new Set(kept.flatMap(buildsOf));
    const all = [...state.left, ...state.uses.flatMap(buildsOf)];
    if (vectors === 'copied') all.push(...state.vectorsOf);
    return {
      uses: kept,
      left: [...new Set(all)].filter((build) => !needed.has(build)),
      vectorsOf: vectors === 'copied' ? [] : state.vectorsOf,
      begun: state.begun,
    };
  });
  // Selects documents that were written after their build had been deleted.
  const known = [...new Set([...uses.flatMap(buildsOf), ...left, ...vectorsOf])];
  const stray = {
    filter: [{ range: { build: { gte: firstBuildName, lt: buildName(abandonedBefore) } } }],
    must_not: [{ terms: { build: known } }],
  };
  const isKept = { terms: { kind: ['searched', ...(vectors === 'kept' ? ['vector'] : [])] } };
  const own = { should: [{ terms: { build: left } }, { bool: stray }], minimum_should_match: 1, must_not: [isKept] };
  const over = [{ bool: own }, ...earlierShapes(begun)];
  await removeWhere(index, scope, [{ bool: { should: over, minimum_should_match: 1 } }]);
  const isDeleted = new Set(left);
  const withoutDeleted = (state: State): State => ({
    ...state,
    left: state.left.filter((build) => !isDeleted.has(build)),
    vectorsOf: vectors === 'kept' ? [...new Set([...state.vectorsOf, ...left])] : state.vectorsOf,
  });
  if (left.length > 0) await change(index, scope, withoutDeleted);
  return uses;
}

/**
 * Selects documents of programs with earlier shapes, once this program has indexed the domain for a week, after which these programs have probably
 * stopped. If one still runs, it rebuilds its documents, and they are kept for another week.
 */
function earlierShapes(begun: number): { range: { build: { lt: string } } }[] {
  const before = Date.now() - earlierKeptMs;
  return begun < before ? [{ range: { build: { lt: earlierBuildName(before) } } }] : [];
}

const buildsOf = ({ build, base }: BuildUse): string[] => (base === undefined ? [build] : [build, base]);
const isIn = (build: string, { uses }: State): boolean => uses.some((use) => use.build === build);

const nothingYet = (): State => ({ uses: [], left: [], vectorsOf: [], begun: Date.now() });

async function stored(
  index: ElasticsearchIndex,
  scope: SearchScope,
): Promise<GuardedDocument<BuildsDocument> | undefined> {
  const read = await storedDocument<BuildsDocument>(
    index,
    scope,
    `read the builds of ${scope.domain}`,
    buildsId(scope),
  );
  if (read === undefined) return undefined;
  const { uses, left, vectorsOf } = read.document;
  if (![uses, left, vectorsOf].every(Array.isArray)) throw unlikeElasticsearch();
  return read;
}

/**
 * Changes the document of the domain. Several processes may do this at once: each applies its change to the latest state. The document
 * exists only while it has content.
 */
async function change(index: ElasticsearchIndex, scope: SearchScope, to: (state: State) => State): Promise<State> {
  const { organization, domain } = scope;
  const id = buildsId(scope);
  for (let conflicts = 0; conflicts < mostConflicts; conflicts += 1) {
    const read = await stored(index, scope);
    const { uses, left, vectorsOf, begun } = read?.document ?? nothingYet();
    const state = { uses, left, vectorsOf, begun };
    const next = to(state);
    if (JSON.stringify(next) === JSON.stringify(state)) return state;
    const target = { index: index.alias, id, routing: routingOf(scope), ...unchangedSince(read) };
    const isEmpty = [next.uses, next.left, next.vectorsOf].every(({ length }) => length === 0);
    const document: BuildsDocument = { organization, domain, kind: 'builds', ...next };
    try {
      await index.call(`store the builds of ${domain}`, storeWithinMs, (client, deadline) =>
        isEmpty && read !== undefined
          ? client.delete(target, { ...deadline, ignore: [404] })
          : client.index({ ...target, require_alias: true, document }, deadline),
      );
      return next;
    } catch (error) {
      // Another process was faster, or this one was and did not receive the answer.
      if (refusalStatus(error) !== 409) throw error;
    }
    await wait(Math.random() * conflictPauseMs * conflicts, undefined, { signal: index.signal });
  }
  throw new SearchUnavailable(`Other processes change the builds of ${domain} too often.`);
}

/** The builds that the versions of the domain name as searched. */
async function searchedBuilds(index: ElasticsearchIndex, scope: SearchScope): Promise<Set<string>> {
  const { organization, domain } = scope;
  const filter = [{ term: { organization } }, { term: { domain } }, { term: { kind: 'searched' } }];
  const what = `list the searched versions of ${domain}`;
  const request = { size: 10_000, _source: ['build'], query: { bool: { filter } } };
  const { hits } = await searchDocuments<VersionDocument>(index, scope, what, storeWithinMs, request);
  return new Set(hits.hits.flatMap(({ _source }) => _source?.build ?? []));
}
