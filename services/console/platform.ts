import type { z } from 'zod';
import type { ErrorBody, FieldProblem } from '#shared/http/errors.ts';
import { signPersonToken } from '#shared/interfaces/http/person-token.ts';
import { jsonIn } from '#shared/runtime/canonical-json.ts';
import { connectionProblem } from '#shared/runtime/connection-problem.ts';
import type { Clock } from '#shared/runtime/time-and-ids.ts';
import { type Identity, roleIn } from './sessions.ts';

/** The platform answered with an error, or not at all (`status` 0). The message is its sentence. */
export class PlatformRefusal extends Error {
  override name = 'PlatformRefusal';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly fields: readonly FieldProblem[];

  constructor(
    sentence: string,
    {
      status,
      code,
      requestId,
      fields = [],
    }: { status: number; code: string; requestId?: string; fields?: FieldProblem[] },
  ) {
    super(sentence);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.fields = fields;
  }
}

/** A request for the platform's interface. `path`: with its parameters, encoded. */
export type PlatformRequest = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: `/${string}`;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: object;
  headers?: Readonly<Record<string, string>>;
};

/** The person for whom the console asks, the organization that they look at, and the address of their browser. */
export type Asker = { identity: Identity; organization: string | undefined; address: string };

const answerWithinMs = 20_000;

/** The platform's public interface, with the rights of the person who looks. The console has no other access to data. */
export type Platform = {
  /** The parsed answer. Rejects with `PlatformRefusal`. */
  ask<S extends z.ZodType>(
    asker: Asker,
    request: PlatformRequest,
    answer: S,
    signal?: AbortSignal,
  ): Promise<z.output<S>>;
  /** The answer itself, for streams and downloads. Rejects with `PlatformRefusal` unless it is 2xx. */
  open(asker: Asker, request: PlatformRequest, signal: AbortSignal): Promise<Response>;
  /** The same with a credential that has no session yet. */
  askWith<S extends z.ZodType>(
    credential: string,
    address: string,
    request: PlatformRequest,
    answer: S,
  ): Promise<z.output<S>>;
};

export function openPlatform(
  { platformUrl, personTokenKey }: { platformUrl: string; personTokenKey: string | undefined },
  clock: Clock,
): Platform {
  const base = platformUrl.replace(/\/+$/, '');

  async function credentialOf({ identity, organization, address }: Asker): Promise<string> {
    if (identity.kind === 'key') return identity.key;
    if (personTokenKey === undefined)
      throw new Error('a person has a session, and BINDERY_PERSON_TOKEN_KEY is not set');
    const role = organization === undefined ? 'operator' : roleIn(identity, organization);
    if (role === undefined || (role === 'operator' && !identity.isOperator))
      throw new Error(`${identity.name} has no role in ${organization ?? 'the installation'}`);
    return await signPersonToken(personTokenKey, { name: identity.name, role, organization, address }, clock.now());
  }

  async function send(credential: string, address: string, request: PlatformRequest, signal: AbortSignal) {
    const { method = 'GET', path, query = {}, body, headers } = request;
    const url = new URL(base + path);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${credential}`,
        // A gateway that trusts the console as a proxy counts and records the browser's address.
        'x-forwarded-for': address,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal,
    }).catch((error: unknown) => {
      throw new PlatformRefusal(`The platform does not answer: ${connectionProblem(error)}.`, {
        status: 0,
        code: 'unavailable',
      });
    });
    if (!response.ok) throw refusalOf(response, await response.text().catch(() => ''));
    return response;
  }

  async function parsed<S extends z.ZodType>(response: Response, schema: S): Promise<z.output<S>> {
    const text = await response.text().catch((error: unknown) => {
      throw new PlatformRefusal(`The answer of the platform broke off: ${connectionProblem(error)}.`, {
        status: 0,
        code: 'unavailable',
      });
    });
    const answer = schema.safeParse(response.status === 204 ? undefined : jsonIn(text));
    if (answer.success) return answer.data;
    throw new PlatformRefusal(`${new URL(base).host} sent an answer that is not from this version of Bindery.`, {
      status: 502,
      code: 'internal',
    });
  }

  const inTime = (signal?: AbortSignal) =>
    AbortSignal.any([AbortSignal.timeout(answerWithinMs), ...(signal === undefined ? [] : [signal])]);

  return {
    ask: async (asker, request, answer, signal) =>
      await parsed(await send(await credentialOf(asker), asker.address, request, inTime(signal)), answer),
    open: async (asker, request, signal) => await send(await credentialOf(asker), asker.address, request, signal),
    askWith: async (credential, address, request, answer) =>
      await parsed(await send(credential, address, request, inTime()), answer),
  };
}

function refusalOf({ status }: Response, text: string): PlatformRefusal {
  const body = jsonIn(text) as Partial<ErrorBody> | undefined;
  if (typeof body?.error !== 'string' || typeof body.code !== 'string')
    return new PlatformRefusal(`The platform answered ${status}, but not as Bindery does.`, {
      status,
      code: 'internal',
    });
  const { error, code, requestId, fields } = body;
  return new PlatformRefusal(error, {
    status,
    code,
    ...(requestId !== undefined && { requestId }),
    fields: fields ?? [],
  });
}
