import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { SafeHtml } from '#shared/docs/render/html.ts';
import type { PersonRole } from '#shared/interfaces/http/person-token.ts';
import type { LiveEvent } from './live.ts';
import type { PlatformRefusal, PlatformRequest } from './platform.ts';
import type { Session } from './sessions.ts';

/** A page as it is shown: `title` is also the heading of its tab; `content` is the part beside the navigation. */
export type View = {
  title: string;
  content: SafeHtml;
  /** Status of the answer; by default 200. */
  status?: number;
};

/** A form that the platform refused: the fields that it sent, and the sentence of the refusal. */
export type Refused = { fields: Readonly<Record<string, string>>; refusal: PlatformRefusal };

/** A request for a page, or of a form, by a person who may see it. */
export type Visit<P = Record<string, string>, Q = Record<string, unknown>> = {
  session: Session;
  /** Role of the person in the organization; on pages of the installation `operator`. */
  role: PersonRole;
  /** The organization whose page it is; empty on pages of the installation. */
  organization: string;
  /** Path of the organization's pages, such as `/o/acme`; empty on pages of the installation. */
  base: string;
  params: P;
  /** The query, with defaults for parameters that are missing or wrong. */
  query: Q;
  /** The address of the page with its query. */
  address: string;
  now: Date;
  /** The time at a later moment of the visit, for streams. */
  current: () => Date;
  /** A hidden field with the token that each form needs. */
  token: SafeHtml;
  /** The form that was refused, when its page is shown again. */
  refused?: Refused;
  /** Asks the platform with the rights of the person. Rejects with `PlatformRefusal`. */
  ask: <S extends z.ZodType>(request: PlatformRequest, answer: S) => Promise<z.output<S>>;
  /** The changes of the organization while a page is open, for streams: see `pieces/live.ts`. */
  events: () => AsyncGenerator<LiveEvent>;
  /** The answer of the platform as it comes, for streams and downloads, until the browser leaves. */
  open: (request: PlatformRequest) => Promise<Response>;
};

type Place = {
  /** Below the pages of an organization (`/exports/:jobId`), or with `of: 'installation'` from the root. */
  path: `/${string}`;
  /** Pages of the installation are for operators, those of an organization for its people. */
  of?: 'installation';
  /** The role that the page or the form needs; by default `viewer`, and `editor` for forms. */
  role?: PersonRole;
};

/** Declarations forget the types of their parameters and fields, which their handlers know. */
export type ConsolePage = Place & {
  kind: 'page';
  params: z.ZodObject;
  query: z.ZodObject;
  show(visit: Visit): Promise<View>;
};

/** A page of the console. Fields of its query have defaults and `catch`, so that an address with a wrong filter still shows the page. */
export const page = <P extends z.ZodObject = z.ZodObject<{}>, Q extends z.ZodObject = z.ZodObject<{}>>(
  declaration: Place & { params?: P; query?: Q },
  show: (visit: Visit<z.output<P>, z.output<Q>>) => Promise<View>,
): ConsolePage =>
  ({
    kind: 'page',
    ...declaration,
    params: declaration.params ?? z.object({}),
    query: declaration.query ?? z.object({}),
    show,
  }) as ConsolePage;

/** The outcome of a form: the path of another page with a sentence about the change, or a page that is shown only now, such as one with a secret. */
export type Outcome = { to: string; said?: string } | View;

/** The question of a form that is asked once more before it acts. */
export type Question = { title: string; sentence: string; button: string };

export type ConsoleForm = Place & {
  kind: 'form';
  /** Asked on a page of its own, unless a script has asked already: see `formButton`. */
  asks?(params: Readonly<Record<string, string>>, fields: unknown): Question;
  params: z.ZodObject;
  fields: z.ZodType;
  page: ConsolePage;
  act(visit: Visit, fields: unknown): Promise<Outcome>;
};

/**
 * A form that changes something, sent by POST to `path`. If the platform refuses it, `page` is shown again with the sentence and the typed fields (`refused`);
 * `page` is at the path of the form or above it, and gets the same parameters.
 */
export const form = <F extends z.ZodType, P extends z.ZodObject = z.ZodObject<{}>>(
  declaration: Place & {
    params?: P;
    fields: F;
    page: ConsolePage;
    asks?: (params: z.output<P>, fields: z.output<F>) => Question;
  },
  act: (visit: Visit<z.output<P>>, fields: z.output<F>) => Promise<Outcome>,
): ConsoleForm => ({ kind: 'form', ...declaration, params: declaration.params ?? z.object({}), act }) as ConsoleForm;

export type ConsoleStream = Place & {
  kind: 'stream';
  isForm?: true;
  params: z.ZodObject;
  query: z.ZodObject;
  follow(visit: Visit, reply: FastifyReply, request: FastifyRequest): Promise<unknown>;
};

/**
 * An address that is no page: a download, or server-sent events for a page that moves. The handler sends the reply. `isForm`: a form of a page asks for
 * it by POST, with its token and by default the role of forms, and `query` reads the fields.
 */
export const stream = <P extends z.ZodObject = z.ZodObject<{}>, Q extends z.ZodObject = z.ZodObject<{}>>(
  declaration: Place & { isForm?: true; params?: P; query?: Q },
  follow: (visit: Visit<z.output<P>, z.output<Q>>, reply: FastifyReply, request: FastifyRequest) => Promise<unknown>,
): ConsoleStream =>
  ({
    kind: 'stream',
    ...declaration,
    params: declaration.params ?? z.object({}),
    query: declaration.query ?? z.object({}),
    follow,
  }) as ConsoleStream;

export type ConsoleRoute = ConsolePage | ConsoleForm | ConsoleStream;
