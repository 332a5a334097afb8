import { LRUCache } from 'lru-cache';
import type { ExportJobState } from '#shared/aggregates/export-job/export-job.ts';
import { canonicalJson } from '#shared/runtime/canonical-json.ts';
import type { PlanAnswer } from './plan-maker.ts';

type Asked = Pick<ExportJobState, 'organization' | 'domain' | 'options' | 'contentVersion' | 'label'>;
type PlanWithoutText = Omit<PlanAnswer, 'text'>;

/** A plan whose bundle was joined, so that each of its segments has been read whole. */
export type JoinedPlan = {
  plan: PlanWithoutText;
  keys: ReadonlySet<string>;
  /** True if the plan is for exactly this content. */
  isOf(asked: Asked): boolean;
};

/**
 * The newest plan of each documentation, renderer version and choice of options whose export this process saw completing. The next plan there is often
 * the same, or differs in a few chunks.
 */
export type JoinedPlans = {
  of(asked: Asked, rendererVersion: string): JoinedPlan | undefined;
  completed(asked: Asked, rendererVersion: string, plan: PlanWithoutText): void;
};

/** Size of the cache: chunks of all remembered plans together, with 200 bytes each. */
const mostChunks = 100_000;

export function joinedPlans(): JoinedPlans {
  const plans = new LRUCache<string, JoinedPlan>({
    maxSize: mostChunks,
    sizeCalculation: ({ keys }) => keys.size + 1,
  });
  return {
    of: (asked, rendererVersion) => plans.get(documentationOf(asked, rendererVersion)),
    completed(asked, rendererVersion, { planHash, pageTotal, chunks }) {
      const content = contentOf(asked);
      plans.set(documentationOf(asked, rendererVersion), {
        plan: { planHash, pageTotal, chunks },
        keys: new Set(chunks.map(({ key }) => key)),
        isOf: (other) => contentOf(other) === content,
      });
    },
  };
}

/** Cache key of the plans that share most of their chunks. */
export function documentationOf({ organization, domain, options }: Asked, rendererVersion: string): string {
  return canonicalJson([organization, domain, { ...options, groups: [...options.groups].sort() }, rendererVersion]);
}

const contentOf = ({ contentVersion, label }: Asked): string => canonicalJson([contentVersion, label]);
