import type { NatsConnection } from '@nats-io/transport-node';
import type { LiveUpdates } from '#shared/live-updates/live-updates.ts';

const prefix = 'live.job-status.';

export function natsLiveUpdates(connection: NatsConnection): LiveUpdates {
  return {
    onJobStatus(listener) {
      const subscription = connection.subscribe(`${prefix}>`, {
        callback: (error, message) => {
          // A removed document is republished as an empty message.
          if (error !== null || message.data.length === 0) return;
          listener({ key: message.subject.slice(prefix.length), document: message.json() });
        },
      });
      return () => subscription.unsubscribe();
    },
  };
}
