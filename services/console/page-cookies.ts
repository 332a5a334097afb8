import type { FastifyReply, FastifyRequest } from 'fastify';
import { organizationId } from '#shared/contracts/identifiers.ts';
import { cookieIn, sealer } from '#shared/login/sealed-values.ts';

/** Cookies that the pages of the console use beside the session. */

const saidSeconds = 60;
/** Limit of the sentence about a change. Browsers keep no cookie of more than 4 KB, and letters may have 4 bytes. */
const longestSaid = 600;

/** The sentence about a change, which the next page shows once: it travels in a sealed cookie, so that no link can put words there. */
export function sentences(secret: string, isSecure: boolean) {
  const values = sealer<{ said: string }>(secret, 'console sentence');
  const cookie = `${isSecure ? '__Host-' : ''}bindery-console-said`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    async say(reply: FastifyReply, sentence: string): Promise<void> {
      const said = sentence.length > longestSaid ? `${sentence.slice(0, longestSaid)}…` : sentence;
      void reply.header(
        'set-cookie',
        `${cookie}=${await values.seal({ said }, saidSeconds)}; Max-Age=${saidSeconds}; ${attributes}`,
      );
    },
    async taken(request: FastifyRequest, reply: FastifyReply): Promise<string | undefined> {
      const sealed = cookieIn(request.raw, cookie);
      if (sealed === undefined || sealed === '') return undefined;
      void reply.header('set-cookie', `${cookie}=; Max-Age=0; ${attributes}`);
      return (await values.open(sealed))?.said;
    },
  };
}

/** The organization whose pages a person saw last. It only leads back there, so the browser keeps it as it is. */
export function lastOrganization(isSecure: boolean) {
  const cookie = `${isSecure ? '__Host-' : ''}bindery-console-last`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  const of = (request: FastifyRequest): string | undefined =>
    organizationId.safeParse(cookieIn(request.raw, cookie)).data;
  return {
    of,
    forget: (reply: FastifyReply): void => void reply.header('set-cookie', `${cookie}=; Max-Age=0; ${attributes}`),
    keep(organization: string, request: FastifyRequest, reply: FastifyReply): void {
      if (of(request) !== organization) void reply.header('set-cookie', `${cookie}=${organization}; ${attributes}`);
    },
  };
}
