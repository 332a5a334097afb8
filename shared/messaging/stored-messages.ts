import { z } from 'zod';
import { contentCommitSchema } from '#shared/aggregates/content/content.ts';
import { directoryCommitSchema } from '#shared/aggregates/directory/directory.ts';
import { exportCommitSchema } from '#shared/aggregates/export-job/export-job.ts';
import { conversationCommitSchema } from '#shared/aggregates/thread/thread.ts';
import { accessRecordSchema, factSchema } from '#shared/contracts/export-facts.ts';
import { bundleTaskSchema, renderTaskSchema } from '#shared/contracts/export-tasks.ts';
import { upcast, upcastCommit, type UpcastTable } from './upcast.ts';

/**
 * How old versions of stored messages become new ones, by kind of message. Every message has had one version so far, so the tables are
 * empty. Who changes the meaning of a message adds version n + 1 to its schema, a line `'<type>@<n>'` here, and a golden file beside the
 * old one, which stays.
 */
const upcasts = {
  exportEvents: {},
  contentEvents: {},
  directoryEvents: {},
  conversationEvents: {},
  facts: {},
  accessRecords: {},
  renderTasks: {},
  bundleTasks: {},
} satisfies Record<string, UpcastTable>;

const commitOf = <S extends z.ZodType>(schema: S, table: UpcastTable) =>
  z.preprocess((stored) => upcastCommit(stored, table), schema);

const messageOf = <S extends z.ZodType>(schema: S, table: UpcastTable) =>
  z.preprocess((stored) => upcast(stored, table), schema);

/** Read any version that was ever stored and give the newest: for whoever reads the bus. Writers use the schemas themselves. */
export const storedExportCommit = commitOf(exportCommitSchema, upcasts.exportEvents);
export const storedContentCommit = commitOf(contentCommitSchema, upcasts.contentEvents);
export const storedDirectoryCommit = commitOf(directoryCommitSchema, upcasts.directoryEvents);
export const storedConversationCommit = commitOf(conversationCommitSchema, upcasts.conversationEvents);
export const storedFact = messageOf(factSchema, upcasts.facts);
export const storedAccessRecord = messageOf(accessRecordSchema, upcasts.accessRecords);
export const storedRenderTask = messageOf(renderTaskSchema, upcasts.renderTasks);
export const storedBundleTask = messageOf(bundleTaskSchema, upcasts.bundleTasks);
