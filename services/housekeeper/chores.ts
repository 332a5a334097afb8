import { archiveClosedJobs } from './archive-closed-jobs.ts';
import type { Chore } from './chore.ts';
import type { HousekeeperContext } from './context.ts';
import { endContents } from './end-contents.ts';
import { sweepObjects } from './sweep-objects.ts';
import { sweepUploads } from './sweep-uploads.ts';

/** All that is done in a round, in this order. A new chore is a file of its own and a line here. */
export function choresOf(context: HousekeeperContext): Chore[] {
  return [
    { name: 'sweep unfinished uploads', run: () => sweepUploads(context) },
    { name: 'archive closed jobs', run: async (signal) => void (await archiveClosedJobs(context, signal)) },
    { name: 'remove objects that nobody needs', run: async (signal) => void (await sweepObjects(context, signal)) },
    { name: 'end contents that nobody needs', run: async (signal) => void (await endContents(context, signal)) },
  ];
}
