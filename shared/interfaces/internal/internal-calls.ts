import { assistant } from './assistant.ts';
import type { InternalCall, InternalCaller, InternalService } from './internal-call.ts';
import { housekeeper } from './housekeeper.ts';
import { linkSigner } from './link-signer.ts';
import { orchestrator } from './orchestrator.ts';
import { projector } from './projector.ts';
import { publisher } from './publisher.ts';

/** Every call from one service to another. */
export const internalCalls: readonly InternalCall[] = [
  linkSigner,
  publisher,
  assistant,
  projector,
  orchestrator,
  housekeeper,
].flatMap((calls) => Object.values(calls));

/** Pairs of a calling and a called service. Each pair has its own token. */
export const callPairs: readonly { caller: InternalCaller; service: InternalService }[] = [
  ...new Map(
    internalCalls.flatMap(({ callers, service }) =>
      callers.map((caller) => [`${caller} ${service}`, { caller, service }] as const),
    ),
  ).values(),
];

/** The environment variable with the token of a pair. */
export const callTokenVariable = (caller: InternalCaller, service: InternalService): string =>
  `BINDERY_TOKEN_${caller}_TO_${service}`.toUpperCase().replaceAll('-', '_');
