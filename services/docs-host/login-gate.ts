import { createHash, timingSafeEqual } from 'node:crypto';
import type { Logger } from '#shared/runtime/telemetry.ts';
import { basicGate, type BasicReaders } from './basic-gate.ts';
import type { EndedSessions, ReaderSession } from '#shared/login/ended-sessions.ts';
import type { Login } from './login-settings.ts';
import { oidcGate } from './oidc-gate.ts';
import type { Gate } from './reader-gate.ts';
import { openedValues, sealer } from '#shared/login/sealed-values.ts';

/** The login in front of the site and of the platform routes of its pages; undefined if there is none. `ended` may be left out only without a login. `answersAgents`: agents ask at the endpoint of the site. */
export function loginGate(
  login: Login,
  ended: EndedSessions | undefined,
  logger: Logger,
  answersAgents: boolean,
): Gate | undefined {
  if (login.kind === 'none') return undefined;
  if (ended === undefined) throw new Error('a login needs a store of ended sessions');
  return login.kind === 'basic'
    ? basicGate(readersOf(login), { ...login, cookie: 'bindery_reader' }, ended, logger)
    : oidcGate(login, ended, logger, answersAgents);
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const mostKnown = 10_000;
const leastKnown = 100;

/** The readers of the settings. Their passwords are long, so a digest is enough, and guesses are not counted. */
function readersOf({ users }: Extract<Login, { kind: 'basic' }>): BasicReaders {
  const digests = new Map([...users].map(([name, password]) => [name, digest(password)]));
  const knownOfEach = Math.max(leastKnown, Math.floor(mostKnown / Math.max(1, users.size)));
  const sealers = new Map(
    [...users].map(([name, password]) => [
      name,
      sealer<ReaderSession>(password, `docs-host reader ${name}`, openedValues(knownOfEach)),
    ]),
  );
  const nobody = digest('');
  return {
    sealerOf: (name) => sealers.get(name),
    prove(name, password) {
      const wanted = digests.get(name);
      const isRight = timingSafeEqual(digest(password), wanted ?? nobody);
      return { kind: isRight && wanted !== undefined ? 'right' : 'wrong' };
    },
  };
}
