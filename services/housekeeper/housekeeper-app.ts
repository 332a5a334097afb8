import type { FastifyInstance } from 'fastify';
import { housekeeper } from '#shared/interfaces/internal/housekeeper.ts';
import { answerCall, internalApp, type InternalServerOptions } from '#shared/interfaces/internal/internal-server.ts';
import type { Clock, RandomDigits } from '#shared/runtime/time-and-ids.ts';
import { decideLetter, decideLetters } from './decide-letter.ts';
import { type LetterStores, listLetters, readLetter } from './read-letters.ts';
import type { SweepPreviews } from './sweep-previews.ts';

export type HousekeeperAppParts = {
  letters: LetterStores;
  previews: SweepPreviews;
  clock: Clock;
  random: RandomDigits;
};

/** The housekeeper's HTTP server: its health, the dead letters of all services, and the objects that the next round would remove. */
export function housekeeperApp(parts: HousekeeperAppParts, options: InternalServerOptions): FastifyInstance {
  const { letters, previews, clock, random } = parts;
  const app = internalApp('housekeeper', options);
  answerCall(app, housekeeper.listDeadLetters, async ({ query }) => ({ body: await listLetters(letters, query) }));
  answerCall(app, housekeeper.readDeadLetter, async ({ params }) => ({
    body: await readLetter(letters, params.letter),
  }));
  answerCall(app, housekeeper.settleDeadLetter, async ({ caller, params, body: { action, why } }) => {
    const decision = { id: `dd_${random(22)}`, action, why, by: caller.actor.id, at: clock.now().toISOString() };
    return { body: await decideLetter(letters, params.letter, decision) };
  });
  answerCall(app, housekeeper.settleDeadLetters, async ({ caller, body: { letters: ids, action, why } }) => {
    const at = clock.now().toISOString();
    const decisionOf = () => ({ id: `dd_${random(22)}`, action, why, by: caller.actor.id, at });
    return { body: await decideLetters(letters, ids, decisionOf) };
  });
  answerCall(app, housekeeper.previewSweep, async ({ query }) => ({ body: await previews.read(query) }));
  return app;
}
