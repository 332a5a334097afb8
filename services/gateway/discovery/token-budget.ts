import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { spentTokensTrailer } from '#shared/interfaces/internal/assistant.ts';
import { ApiError } from '#shared/http/errors.ts';
import { type RateLimit, rateLimitHeaders } from '#shared/http/rate-limit.ts';
import { dayMs } from '#shared/runtime/time-and-ids.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { tokenBudgetName } from '../rate-limits.ts';

const daySeconds = dayMs / 1_000;

/** Checks one question against its organization's budget of model tokens for today, and subtracts its cost. */
export type TokenBudget = {
  /** Writes the rest of the budget into the answer's headers. Throws `rate_limited` if it is used up. */
  check(): Promise<void>;
  /**
   * Subtracts the tokens of an answer when its `body` has ended, as its trailer reports. An answer that broke off has no trailer: it costs the
   * assistant's estimate for its prompt.
   */
  takeWhenEnded(answer: Answer): void;
};

type Answer = {
  /** Only `x-bindery-prompt-tokens` is read. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Readable;
  trailers(): Readonly<Record<string, string | undefined>>;
};

/** The limit of model tokens of an organization, and the key of its count; undefined if its plan has none. Pure. */
export function tokenBudgetOf(
  { tokensPerDay }: Pick<GatewayContext['config'], 'tokensPerDay'>,
  organization: string,
  plan: Principal['organizationPlan'],
  now: Date,
): { limit: RateLimit; key: string } | undefined {
  const tokens = tokensPerDay[plan];
  if (tokens === 0) return undefined;
  return {
    limit: { name: tokenBudgetName, requests: tokens, windowSeconds: daySeconds },
    // Each day has a separate count, so that it ends at midnight.
    key: `${organization}/${now.toISOString().slice(0, 10)}`,
  };
}

/**
 * The budget of the caller's organization for this day (UTC); undefined if its plan has none. A question that begins within the budget is answered to
 * its end, so concurrent answers may exceed it together.
 */
export function tokenBudget(
  { config, rateLimiter, clock, logger }: Pick<GatewayContext, 'config' | 'rateLimiter' | 'clock' | 'logger'>,
  reply: FastifyReply,
  { organization, organizationPlan }: Principal,
): TokenBudget | undefined {
  const budget = tokenBudgetOf(config, organization, organizationPlan, clock.now());
  if (budget === undefined) return undefined;
  const { limit, key } = budget;
  const tokens = limit.requests;
  const now = clock.now().getTime();
  const resetSeconds = Math.ceil((dayMs - (now % dayMs)) / 1_000);

  return {
    async check() {
      const outcome = { ...(await rateLimiter.spend(limit, key, 0)), resetSeconds };
      for (const [name, value] of Object.entries(rateLimitHeaders([{ limit, outcome }]))) {
        const others = reply.getHeader(name);
        reply.header(name, others === undefined || name === 'retry-after' ? value : `${String(others)}, ${value}`);
      }
      if (outcome.allowed) return;
      throw new ApiError(
        'rate_limited',
        `The organization has spent its ${tokens.toLocaleString('en-US')} model tokens of today. Ask again after midnight UTC, in ${resetSeconds} seconds.`,
        { retryAfterSeconds: resetSeconds },
      );
    },

    takeWhenEnded(answer) {
      const { body } = answer;
      let isCounted = false;
      const count = (spent: string | undefined): void => {
        const amount = Math.ceil(Number(spent ?? 0));
        if (isCounted || !(amount > 0)) return;
        isCounted = true;
        rateLimiter.spend(limit, key, amount).catch((error: unknown) => {
          logger.error({ err: error, organization, amount }, 'model tokens were not counted');
        });
      };
      // The tokens are counted before the client sees the end, so that the check of its next question includes them.
      body.once('end', () => count(answer.trailers()[spentTokensTrailer]));
      body.once('close', () => {
        if (!body.readableEnded) count(answer.headers['x-bindery-prompt-tokens']);
      });
    },
  };
}
