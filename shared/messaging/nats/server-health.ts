import { type BusAddress, openConnection } from './connection.ts';
import { supervisorUser } from '../subjects/permissions.ts';

/** Health of a nats-server, for the supervisor. */
export type ServerHealth = {
  /** The reason why the server cannot store messages, as a sentence; undefined when it can. Rejects when it does not answer. */
  problem(): Promise<string | undefined>;
  close(): Promise<void>;
};

const answerWithinMs = 3_000;
const healthSubject = '$SYS.REQ.SERVER.PING.HEALTHZ';

type HealthAnswer = {
  data?: { status?: string; error?: string; errors?: { type?: string; stream?: string; error?: string }[] };
};

/**
 * Connects to a server as its supervisor, whose only right is to ask for its health. A server of version 2.14 or later reports for each
 * stream whether its last write failed. After a failure it refuses writes until its restart, also when there is room again.
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
