import type { NatsConnection } from '@nats-io/transport-node';
import {
  type PresenceReport,
  presenceReportSchema,
  type Withdrawal,
  withdrawalSchema,
} from '#shared/contracts/export-tasks.ts';
import { generations, inGeneration } from '#shared/interfaces/read-models.ts';
import { presenceSubject, withdrawalSubject } from '#shared/messaging/subjects/subject-names.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import type { LiveUpdates } from '../bus.ts';
import type { Pointers } from '../read-models.ts';
import type { Presence, Withdrawals } from '#shared/messaging/queue/task-queue.ts';

const intervalMs = 1_000;

/** Presence over core NATS: reports are sent every second, and not stored. */
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

/** Reports of newer programs may have fields that this one does not know. A report that cannot be read is ignored. */
const readReport = (text: string): PresenceReport | undefined => presenceReportSchema.safeParse(jsonIn(text)).data;

/** Withdrawals over core NATS. Nothing is sent while the connection is closed. */
export function natsWithdrawals(connection: NatsConnection): Withdrawals {
  return {
    withdraw(service, taskIds) {
      const withdrawal: Withdrawal = { taskIds: [...taskIds] };
      if (!connection.isClosed()) connection.publish(withdrawalSubject(service), JSON.stringify(withdrawal));
    },

    watch(service, listener) {
      const subscription = connection.subscribe(withdrawalSubject(service), {
        callback: (error, message) => {
          if (error !== null) return;
          for (const taskId of withdrawalSchema.safeParse(jsonIn(message.string())).data?.taskIds ?? [])
            listener(taskId);
        },
      });
      return () => subscription.unsubscribe();
    },
  };
}

/**
 * Updates come from the generation that is read and, for a while after a switch, also from the previous one. Around the switch an update may come
 * twice, but none is lost. Updates of a generation that is being filled are ignored from the moment at which this process learns that it is being
 * filled.
 */
export function natsLiveUpdates(connection: NatsConnection, pointers: Pointers): LiveUpdates {
  return {
    onJobStatus(listener) {
      // The first call starts to follow the pointers. Until they are known, updates of the blue generation count.
      void pointers.live('exports').catch(() => {});
      const subscriptions = generations.map((generation) => {
        const prefix = `live.${inGeneration('job-status', generation)}.`;
        return connection.subscribe(`${prefix}>`, {
          callback: (error, message) => {
            // A removed document is republished as an empty message.
            if (error !== null || message.data.length === 0 || !pointers.counts('exports', generation)) return;
            listener({ key: message.subject.slice(prefix.length), document: jsonIn(message.string()) });
          },
        });
      });
      return () => {
        for (const subscription of subscriptions) subscription.unsubscribe();
      };
    },
  };
}
