import { type BusAddress, openConnection } from './connection.ts';
import { supervisorUser } from '../subjects/permissions.ts';

/** What a nats-server says about itself to whoever keeps it running. */
export type ServerHealth = {
  /** Why it cannot store what it is sent, as a sentence; undefined when it can. Rejects when it does not answer. */
  problem(): Promise<string | undefined>;
  close(): Promise<void>;
};

const answerWithinMs = 3_000;
const healthSubject = '$SYS.REQ.SERVER.PING.HEALTHZ';

type HealthAnswer = {
  data?: { status?: string; error?: string; errors?: { type?: string; stream?: string; error?: string }[] };
};

/**
 * Connects to a server as its supervisor, with the rights to ask for its health and nothing else. A server of version 2.14 or later says of each stream whether
 * its last write failed. It goes on refusing then, also when there is room again.
 */
export async function openServerHealth(address: Omit<BusAddress, 'user'>): Promise<ServerHealth> {
  const connection = await openConnection({ ...address, user: supervisorUser }, supervisorUser);
  return {
    async problem() {
      const answer = await connection.request(healthSubject, JSON.stringify({ details: true }), {
        timeout: answerWithinMs,
      });
      const { data } = answer.json<HealthAnswer>();
      if (data?.status === undefined || data.status === 'ok') return undefined;
      const errors = (data.errors ?? []).flatMap(({ error }) => error ?? []);
      return errors[0] ?? data.error ?? `its status is "${data.status}"`;
    },
    close: () => connection.close(),
  };
}
