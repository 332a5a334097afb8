import type { z } from 'zod';
import type { ErrorCode } from '#shared/http/errors.ts';

/** Services that take calls. */
export type InternalService = 'publisher' | 'link-signer' | 'assistant';

/** Services that make calls. */
export type InternalCaller = 'gateway' | 'housekeeper';

/** A call from one service to another, declared once: its caller and its route both go by the declaration. */
export type InternalCall = {
  service: InternalService;
  /** Who may make it; the service refuses the others. */
  callers: readonly InternalCaller[];
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `:name` stands for a parameter. */
  path: `/internal/${string}`;
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Request headers beside the service token and the caller. */
  headers?: z.ZodObject;
  /** JSON by its schema, or `stream`: the bytes as they come. */
  body?: z.ZodType | 'stream';
  /** JSON by its schema, or `stream`: the route writes it on its own. */
  answer: z.ZodType | 'stream';
  answerHeaders?: z.ZodObject;
  /** What the service may answer with beside `internal` and `unavailable`. */
  errors: readonly ErrorCode[];
  /** The head of the answer must be there by then, also when the body is long. */
  answerWithinMs: number;
  /** No part of the answer's body may take longer. */
  idleMs: number;
};

/** Keeps the exact type of a declaration. */
export const internalCall = <const C extends InternalCall>(call: C): C => call;
