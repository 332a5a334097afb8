import { exportPlanSchema, planKey } from '#shared/contracts/export-plan.ts';
import type { ExportJobState } from '#shared/contracts/export-job-state.ts';
import { exportLogSubject } from '#shared/subjects/subject-names.ts';
import type { OrchestratorContext } from './context.ts';
import { needsPlan } from './decide.ts';
import type { ExportCommand, Knowledge } from './export-command.ts';

/** Looks up what a decision needs beside the state, which is hardly ever anything. */
export async function knowledgeFor(
  context: Pick<OrchestratorContext, 'bus' | 'objectStore'>,
  state: ExportJobState,
  command: ExportCommand,
): Promise<Knowledge> {
  const known: Knowledge = {};
  if (needsPlan(command) && state.planHash !== undefined) {
    known.pagesOf = await pagesOfPlan(context, state.organization, state.planHash);
  }
  const isEnding = command.type === 'FoldFacts' && command.facts.some(({ type }) => type === 'BundleJoined');
  if (isEnding && state.replayOf !== undefined) {
    const subject = exportLogSubject(state.organization, state.replayOf);
    const original = (await context.bus.exports.last(subject, { fromLeader: true }))?.commit.data.state;
    known.original = { sha256: original?.bundle?.sha256, rendererVersion: original?.rendererVersion };
  }
  return known;
}

async function pagesOfPlan(
  { objectStore }: Pick<OrchestratorContext, 'objectStore'>,
  organization: string,
  planHash: string,
): Promise<(chunk: number) => readonly string[]> {
  const stored = await objectStore.get(planKey(organization, planHash));
  if (stored === undefined) return () => [];
  const { chunks } = exportPlanSchema.parse(JSON.parse(Buffer.from(stored).toString()));
  return (number) => {
    const chunk = chunks[number];
    return chunk?.kind === 'pages' ? chunk.paths : [];
  };
}
