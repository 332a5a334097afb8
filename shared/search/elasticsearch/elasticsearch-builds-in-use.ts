import { setTimeout as wait } from 'node:timers/promises';
import { hourMs } from '#shared/runtime/time-and-ids.ts';
import { type ElasticsearchWriter, refusalStatus, requireMissingIndex } from './elasticsearch-connection.ts';
import { removeWhere } from './elasticsearch-documents.ts';
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
 * Versions share documents, and processes build, replace and remove versions of a domain at the same time. So one document per domain lists
 * the builds in use, and every change of it is a guarded write:
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
export async function registerBuild(
  writer: ElasticsearchWriter,
  scope: SearchScope,
  use: BuildUse,
  signal?: AbortSignal,
): Promise<boolean> {
  const after = await change(
    writer,
    scope,
    (state) => {
      const isPossible = use.base === undefined || state.uses.some((other) => buildsOf(other).includes(use.base ?? ''));
      return isPossible && !isIn(use.build, state) ? { ...state, uses: [...state.uses, use] } : state;
    },
    signal,
  );
  return isIn(use.build, after);
}

/** False for a build whose version was removed since it was registered. */
export async function isRegistered(
  writer: ElasticsearchWriter,
  scope: SearchScope,
  build: string,
  signal?: AbortSignal,
): Promise<boolean> {
  return isIn(build, (await stored(writer, scope, signal)).state);
}

type ReleaseOptions = {
  /** `copied`: the vectors that were kept are deleted, too. */
  vectors: 'deleted' | 'kept' | 'copied';
  signal?: AbortSignal | undefined;
};

/** Takes these builds, and those of dead processes, out of use, and deletes the builds that are then unused. Returns the uses that remain. */
export async function releaseBuilds(
  writer: ElasticsearchWriter,
  scope: SearchScope,
  isOver: (use: BuildUse) => boolean,
  { vectors, signal }: ReleaseOptions,
): Promise<readonly BuildUse[]> {
  const abandonedBefore = Date.now() - abandonedAfterMs;
  const before = await stored(writer, scope, signal);
  const isOld = ({ since }: BuildUse): boolean => since < abandonedBefore;
  const searched = before.state.uses.some(isOld) ? await searchedBuilds(writer, scope, signal) : new Set<string>();
  const { uses, left, vectorsOf, begun } = await change(
    writer,
    scope,
    (state) => {
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
    },
    signal,
  );
  // Documents that were written after their build had been deleted.
  const known = [...new Set([...uses.flatMap(buildsOf), ...left, ...vectorsOf])];
  const stray = {
    filter: [{ range: { build: { gte: firstBuildName, lt: buildName(abandonedBefore) } } }],
    must_not: [{ terms: { build: known } }],
  };
  const isKept = { terms: { kind: ['searched', ...(vectors === 'kept' ? ['vector'] : [])] } };
  const own = { should: [{ terms: { build: left } }, { bool: stray }], minimum_should_match: 1, must_not: [isKept] };
  const over = [{ bool: own }, ...earlierShapes(begun)];
  await removeWhere(writer, scope, [{ bool: { should: over, minimum_should_match: 1 } }], signal);
  const isDeleted = new Set(left);
  const withoutDeleted = (state: State): State => ({
    ...state,
    left: state.left.filter((build) => !isDeleted.has(build)),
    vectorsOf: vectors === 'kept' ? [...new Set([...state.vectorsOf, ...left])] : state.vectorsOf,
  });
  if (left.length > 0) await change(writer, scope, withoutDeleted, signal);
  return uses;
}

/**
 * Selects documents of programs with earlier shapes, once this program has indexed the domain for so many days that none of them is likely
 * to run any more. If one does, it builds its documents again, and they are kept for the same time.
 */
function earlierShapes(begun: number): { range: { build: { lt: string } } }[] {
  const before = Date.now() - earlierKeptMs;
  return begun < before ? [{ range: { build: { lt: earlierBuildName(before) } } }] : [];
}

const buildsOf = ({ build, base }: BuildUse): string[] => (base === undefined ? [build] : [build, base]);
const isIn = (build: string, { uses }: State): boolean => uses.some((use) => use.build === build);

const nothingYet = (): State => ({ uses: [], left: [], vectorsOf: [], begun: Date.now() });

type Stored = { state: State; sequence: number | undefined; term: number | undefined };

async function stored({ call, alias }: ElasticsearchWriter, scope: SearchScope, signal?: AbortSignal): Promise<Stored> {
  const answer = await call(
    `read the builds of ${scope.domain}`,
    storeWithinMs,
    (client, deadline) =>
      client.get<BuildsDocument>(
        { index: alias, id: buildsId(scope), routing: routingOf(scope) },
        { ...deadline, ignore: [404] },
      ),
    signal,
  );
  if ((answer as { found?: boolean } | null)?.found === undefined) requireMissingIndex(answer);
  const { uses, left, vectorsOf, begun } = (answer.found && answer._source) || nothingYet();
  return { state: { uses, left, vectorsOf, begun }, sequence: answer._seq_no, term: answer._primary_term };
}

/**
 * Changes the document of the domain. Several processes may do this at once: each applies its change to the latest state. The document
 * exists only while it has content.
 */
async function change(
  writer: ElasticsearchWriter,
  scope: SearchScope,
  to: (state: State) => State,
  signal?: AbortSignal,
): Promise<State> {
  const { organization, domain } = scope;
  const target = { index: writer.alias, id: buildsId(scope), routing: routingOf(scope) };
  for (let conflicts = 0; conflicts < mostConflicts; conflicts += 1) {
    const { state, sequence, term } = await stored(writer, scope, signal);
    const isThere = sequence !== undefined && term !== undefined;
    const next = to(state);
    if (JSON.stringify(next) === JSON.stringify(state)) return state;
    const guard = isThere ? { if_seq_no: sequence, if_primary_term: term } : { op_type: 'create' as const };
    const isEmpty = [next.uses, next.left, next.vectorsOf].every(({ length }) => length === 0);
    const document: BuildsDocument = { organization, domain, kind: 'builds', ...next };
    try {
      await writer.call(
        `store the builds of ${domain}`,
        storeWithinMs,
        (client, deadline) =>
          isEmpty && isThere
            ? client.delete({ ...target, if_seq_no: sequence, if_primary_term: term }, { ...deadline, ignore: [404] })
            : client.index({ ...target, ...guard, require_alias: true, document }, deadline),
        signal,
      );
      return next;
    } catch (error) {
      // Another process was faster, or this one was and did not receive the answer.
      if (refusalStatus(error) !== 409) throw error;
    }
    await wait(Math.random() * conflictPauseMs * conflicts, undefined, { signal });
  }
  throw new SearchUnavailable(`Other processes change the builds of ${domain} too often.`);
}

/** The builds that the versions of the domain name as searched. */
async function searchedBuilds(
  { call, alias }: ElasticsearchWriter,
  scope: SearchScope,
  signal?: AbortSignal,
): Promise<Set<string>> {
  const { organization, domain } = scope;
  const filter = [{ term: { organization } }, { term: { domain } }, { term: { kind: 'searched' } }];
  const answer = await call(
    `list the searched versions of ${domain}`,
    storeWithinMs,
    (client, deadline) =>
      client.search<VersionDocument>(
        {
          ...{ index: alias, routing: routingOf(scope), size: 10_000, _source: ['build'] },
          ...{ query: { bool: { filter } }, allow_partial_search_results: false },
        },
        deadline,
      ),
    signal,
  );
  if (answer.timed_out) throw new SearchUnavailable('Elasticsearch did not list all versions in time.');
  return new Set(answer.hits.hits.flatMap(({ _source }) => _source?.build ?? []));
}
