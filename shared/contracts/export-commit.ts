import type { z } from 'zod';
import { commitSchema } from './commit.ts';
import { exportEventSchema } from './export-events.ts';
import { exportJobStateSchema } from './export-job-state.ts';

/** A commit in the log of one export job (`exports.<org>.<job>.log`). */
export const exportCommitSchema = commitSchema(exportEventSchema, exportJobStateSchema);

export type ExportCommit = z.infer<typeof exportCommitSchema>;
