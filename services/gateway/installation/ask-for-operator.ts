import type { z } from 'zod';
import { ApiError } from '#shared/http/errors.ts';
import type { InternalCall } from '#shared/interfaces/internal/internal-call.ts';
import type { CallParts } from '#shared/interfaces/internal/internal-client.ts';
import { messageOf } from '#shared/runtime/failures.ts';
import { withDeadline } from '#shared/runtime/with-deadline.ts';
import type { GatewayContext } from '../context.ts';
import type { RouteRequest } from '../public-route.ts';

/** A page of an operator waits for the answer. */
const withinMs = 1_900;

type InstallationCall = InternalCall & { of: 'installation'; answer: z.ZodType };

/**
 * The answer of a service to a call about the installation. Rejects with an error that the call declares, or with `unavailable` and the reason, also
 * when the service is of another version that does not know the call.
 */
export async function askForOperator<C extends InstallationCall>(
  { logger }: Pick<GatewayContext, 'logger'>,
  { askInstallation }: Pick<RouteRequest<never>, 'askInstallation'>,
  call: C,
  parts: CallParts<C>,
): Promise<z.output<C['answer']>> {
  const { service } = call;
  const late = () => new ApiError('unavailable', `The ${service} did not answer within ${withinMs / 1_000} s.`);
  const asked = async () => (await askInstallation(call, parts)).json();
  try {
    return await withDeadline(asked(), withinMs, late);
  } catch (error) {
    const isNewer = error instanceof ApiError && error.code === 'not_found' && !call.errors.includes('not_found');
    if (error instanceof ApiError && !isNewer) throw error;
    logger.warn({ err: error, service, call: call.path }, 'a part of the installation is not known');
    throw new ApiError(
      'unavailable',
      isNewer ? `The ${service} runs another version of Bindery, which does not know this question.` : messageOf(error),
      { cause: error },
    );
  }
}
