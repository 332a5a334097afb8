import type { z } from 'zod';
import type { ErrorCode } from '#shared/http/errors.ts';
import type { Caller, OperatorCaller } from './caller.ts';

/** Services that receive calls. */
export type InternalService = 'publisher' | 'link-signer' | 'assistant' | 'projector' | 'orchestrator' | 'housekeeper';

/** Services that make calls. */
export type InternalCaller = 'gateway' | 'housekeeper';

/** A call from one service to another, declared once for its caller and its route. */
export type InternalCall = {
  service: InternalService;
  /** The services that may make the call. Others are refused. */
  callers: readonly InternalCaller[];
  /** A call about the installation is for its operator, and names no organization. */
  of?: 'installation';
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `:name` stands for a parameter. */
  path: `/internal/${string}`;
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Request headers in addition to the service token and the caller. */
  headers?: z.ZodObject;
  /** JSON of the schema, or `stream`: the bytes as they come. */
  body?: z.ZodType | 'stream';
  /** JSON of the schema, or `stream`: the route writes the answer itself. */
  answer: z.ZodType | 'stream';
  answerHeaders?: z.ZodObject;
  /** Errors of the service in addition to `internal` and `unavailable`. */
  errors: readonly ErrorCode[];
  /** Timeout of the head of the answer, also when the body is long. */
  answerWithinMs: number;
  /** Timeout between parts of the answer's body. */
  idleMs: number;
};

/** The caller that a call names. */
export type CallerOf<C extends InternalCall> = C extends { of: 'installation' } ? OperatorCaller : Caller;

/** Keeps the exact type of a declaration. */
export const internalCall = <const C extends InternalCall>(call: C): C => call;
