import type { NatsConnection } from '@nats-io/transport-node';
import { type PresenceReport, presenceReportSchema } from '#shared/contracts/presence-report.ts';
import type { Presence } from '#shared/presence/presence.ts';
import { presenceSubject } from '#shared/subjects/subject-names.ts';

const intervalMs = 1_000;

export function natsPresence(connection: NatsConnection): Presence {
  return {
    announce(report) {
      const now = () => {
        const current = report();
        if (!connection.isClosed())
          connection.publish(presenceSubject(current.service, current.instance), JSON.stringify(current));
      };
      now();
      const timer = setInterval(now, intervalMs);
      return { now, stop: () => clearInterval(timer) };
    },

    watch(service, listener) {
      const subscription = connection.subscribe(presenceSubject(service, '*'), {
        callback: (error, message) => {
          if (error !== null) return;
          const report = readReport(message.string());
          if (report !== undefined) listener(report);
        },
      });
      return () => subscription.unsubscribe();
    },
  };
}

/** A report of a newer program may have what this one does not know; one that makes no sense is as good as none. */
function readReport(text: string): PresenceReport | undefined {
  try {
    return presenceReportSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
