import { z } from 'zod';
import {
  deadLetterDetailSchema,
  deadLetterListSchema,
  deadLetterSettledSchema,
  decideLettersBodySchema,
  decisionReasonSchema,
  housekeepingQuerySchema,
  housekeepingSchema,
  installationWorkSchema,
  letterIdSchema,
  lettersDecidedSchema,
  listDeadLettersQuerySchema,
  serviceListSchema,
} from '#shared/interfaces/http/installation.ts';
import { doctorSchema } from '#shared/interfaces/http/doctor.ts';
import { housekeeper } from '#shared/interfaces/internal/housekeeper.ts';
import { orchestrator } from '#shared/interfaces/internal/orchestrator.ts';
import { readinessOf } from '#shared/runtime/health-routes.ts';
import { programVersion } from '#shared/runtime/program-version.ts';
import { gatewayHealth } from '../gateway-health.ts';
import { publicRoute } from '../public-route.ts';
import { perHour } from '../rate-limits.ts';
import { examineInstallation } from './doctor.ts';
import { askForOperator } from './ask-for-operator.ts';
import { askedHealth, healthOf } from './service-health.ts';

const limits = [perHour('operator', 'operatorPerHour')] as const;
const params = z.object({ letter: letterIdSchema.meta({ title: 'dead letter' }) });

/** The installation, for its operator. */
export const installationRoutes = [
  publicRoute(
    {
      id: 'listServices',
      method: 'GET',
      path: '/v1/installation/services',
      summary: 'Returns the health and the version of the gateway that answers, and of the services that it calls.',
      key: 'operator',
      answer: serviceListSchema,
    },
    async (context) => {
      const { config, liveGateways } = context;
      const called = [
        ['publisher', config.publisherUrl],
        ['link-signer', config.linkSignerUrl],
        ['assistant', config.assistantUrl],
        ['projector', config.projectorUrl],
        ['orchestrator', config.orchestratorUrl],
        ['housekeeper', config.housekeeperUrl],
      ] as const;
      const [own, ...others] = await Promise.all([
        readinessOf('gateway', gatewayHealth(context)),
        ...called.flatMap(([service, url]) => (url === undefined ? [] : [askedHealth(service, url)])),
      ]);
      return { gateways: liveGateways(), services: [healthOf({ ...own, version: programVersion }), ...others] };
    },
  ),
  publicRoute(
    {
      id: 'examineInstallation',
      method: 'GET',
      path: '/v1/installation/doctor',
      summary:
        'Examines the bus, the stores and the services as far as a gateway can reach them, and names what only the command `bindery doctor` examines.',
      key: 'operator',
      answer: doctorSchema,
    },
    async (context) => await examineInstallation(context),
  ),
  publicRoute(
    {
      id: 'readWork',
      method: 'GET',
      path: '/v1/installation/work',
      summary: 'Returns the depth of each work queue, the holder of each role, and the tasks of each worker.',
      key: 'operator',
      answer: installationWorkSchema,
    },
    async (context, request) => await askForOperator(context, request, orchestrator.readWork, {}),
  ),
  publicRoute(
    {
      id: 'listDeadLetters',
      method: 'GET',
      path: '/v1/installation/dead-letters',
      summary: 'Lists the messages that services could not handle and set aside, by service, stream and sequence.',
      key: 'operator',
      query: listDeadLettersQuerySchema,
      answer: deadLetterListSchema,
    },
    async (context, request) =>
      await askForOperator(context, request, housekeeper.listDeadLetters, { query: request.query }),
  ),
  publicRoute(
    {
      id: 'readDeadLetter',
      method: 'GET',
      path: '/v1/installation/dead-letters/:letter',
      summary: 'Returns a dead letter with its history and its message, in which secrets are hidden.',
      key: 'operator',
      params,
      answer: deadLetterDetailSchema,
    },
    async (context, request) =>
      await askForOperator(context, request, housekeeper.readDeadLetter, { params: request.params }),
  ),
  publicRoute(
    {
      id: 'retryDeadLetter',
      method: 'POST',
      path: '/v1/installation/dead-letters/:letter/retry',
      summary:
        'Has the service of a dead letter handle its message again, and then those that wait behind it. A repeated request waits for the first.',
      key: 'operator',
      limits,
      params,
      body: decisionReasonSchema,
      answer: deadLetterSettledSchema,
      errors: ['in_use'],
    },
    async (context, request) =>
      await askForOperator(context, request, housekeeper.settleDeadLetter, {
        params: request.params,
        body: { action: 'retry', why: request.body.why },
      }),
  ),
  publicRoute(
    {
      id: 'dropDeadLetter',
      method: 'DELETE',
      path: '/v1/installation/dead-letters/:letter',
      summary:
        'Drops a dead letter permanently; the messages that wait behind it are handled. A repeated request changes nothing.',
      key: 'operator',
      limits,
      params,
      query: decisionReasonSchema,
      answer: deadLetterSettledSchema,
      errors: ['in_use'],
    },
    async (context, request) =>
      await askForOperator(context, request, housekeeper.settleDeadLetter, {
        params: request.params,
        body: { action: 'drop', why: request.query.why },
      }),
  ),
  publicRoute(
    {
      id: 'decideDeadLetters',
      method: 'POST',
      path: '/v1/installation/dead-letters/decisions',
      summary:
        'Retries or drops the dead letters that it names. The decision about each is in its history; a letter that cannot be decided about stays, with the reason.',
      key: 'operator',
      limits,
      body: decideLettersBodySchema,
      answer: lettersDecidedSchema,
    },
    async (context, request) =>
      await askForOperator(context, request, housekeeper.settleDeadLetters, { body: request.body }),
  ),
  publicRoute(
    {
      id: 'previewHousekeeping',
      method: 'GET',
      path: '/v1/installation/housekeeping',
      summary:
        'Returns the objects and content versions that the next round of the housekeeper would remove, by organization. Nothing is removed.',
      key: 'operator',
      query: housekeepingQuerySchema,
      answer: housekeepingSchema,
    },
    async (context, request) =>
      await askForOperator(context, request, housekeeper.previewSweep, { query: request.query }),
  ),
];
