import type { NatsConnection } from '@nats-io/transport-node';
import type { LiveUpdates } from '#shared/live-updates/live-updates.ts';
import { generations, inGeneration } from '#shared/read-model/generation.ts';
import type { Pointers } from '#shared/read-model/pointers.ts';

/**
 * Updates of the generation that is read, and for a while also of the one that was: around a flip an update may come twice, but none
 * falls between the two. A generation that is being filled says nothing here.
 */
export function natsLiveUpdates(connection: NatsConnection, pointers: Pointers): LiveUpdates {
  return {
    onJobStatus(listener) {
      // From now on the pointers are followed; until they are known the plain generation counts.
      void pointers.live('exports').catch(() => {});
      const subscriptions = generations.map((generation) => {
        const prefix = `live.${inGeneration('job-status', generation)}.`;
        return connection.subscribe(`${prefix}>`, {
          callback: (error, message) => {
            // A removed document is republished as an empty message.
            if (error !== null || message.data.length === 0 || !pointers.counts('exports', generation)) return;
            listener({ key: message.subject.slice(prefix.length), document: message.json() });
          },
        });
      });
      return () => {
        for (const subscription of subscriptions) subscription.unsubscribe();
      };
    },
  };
}
