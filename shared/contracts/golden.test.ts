import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answerPartSchema } from './answer-part.ts';
import { accessRecordSchema, factSchema } from './export-facts.ts';
import { bundleTaskSchema, presenceReportSchema, renderTaskSchema, withdrawalSchema } from './export-tasks.ts';
import { type GoldenMembers, goldenContract, membersOf } from './golden.contract.ts';
import { siteDayRecordSchema, siteViewsRecordSchema } from './site-views.ts';
import {
  arrivedFilesSchema,
  exportPlanSchema,
  exportSelectionSchema,
  segmentDigestSchema,
  versionFilesSchema,
} from './stored-objects.ts';

const golden = join(import.meta.dirname, 'golden');

const kinds: Record<string, GoldenMembers> = {
  fact: membersOf(factSchema),
  'render-task': membersOf(renderTaskSchema, 'kind'),
  'bundle-task': { 'bundle.v1': bundleTaskSchema },
  'segment-sidecar': { 'sidecar.v1': segmentDigestSchema },
  'export-plan': { 'plan.v1': exportPlanSchema },
  'export-selection': { 'selection.v1': exportSelectionSchema },
  'version-files': { 'files.v1': versionFilesSchema },
  'arrived-files': { 'arrived.v1': arrivedFilesSchema },
  'presence-report': { 'presence.v1': presenceReportSchema },
  'task-withdrawal': { 'withdrawal.v1': withdrawalSchema },
  'site-views': { 'SitesViewed.v1': siteViewsRecordSchema, 'SiteDayCounted.v1': siteDayRecordSchema },
  'answer-part': { 'AnswerPart.v1': answerPartSchema },
  'access-record': { 'LinkSigned.v1': accessRecordSchema },
};

test('no folder of golden files is without a schema', () => {
  expect(readdirSync(golden).toSorted()).toEqual(Object.keys(kinds).toSorted());
});

for (const [kind, members] of Object.entries(kinds)) goldenContract(kind, join(golden, kind), members);
