import type { Chore } from './chore.ts';
import type { HousekeeperContext } from './context.ts';
import { sweepUploads } from './sweep-uploads.ts';

/** All that is done in a round, in this order. A new chore is a file of its own and a line here. */
export function choresOf(context: HousekeeperContext): Chore[] {
  return [{ name: 'sweep unfinished uploads', run: () => sweepUploads(context) }];
}
