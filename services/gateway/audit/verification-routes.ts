import { verificationBodySchema, verificationSchema } from '#shared/interfaces/http/verification.ts';
import { projector } from '#shared/interfaces/internal/projector.ts';
import { publicRoute } from '../public-route.ts';
import { perHour } from '../rate-limits.ts';

/** Each reads all messages of the logs. */
const limits = [perHour('verifications', 20)] as const;

/** Verifications of the logs by the projector, which has the audit key: for an organization its own logs, for the operator all. */
export const verificationRoutes = [
  publicRoute(
    {
      id: 'readVerification',
      method: 'GET',
      path: '/v1/audit/verification',
      summary: "Returns the last verification of the organization's logs, and the state of one that runs.",
      key: 'admin',
      answer: verificationSchema,
    },
    async (_context, { principal: { organization }, askInstallation }) =>
      await (await askInstallation(projector.readVerification, { body: { organization } })).json(),
  ),
  publicRoute(
    {
      id: 'startVerification',
      method: 'POST',
      path: '/v1/audit/verification',
      summary:
        "Starts a verification of the organization's logs: chains, order, bytes, states and anchors. One runs at a time; without `again`, the result of the last hour is returned if the logs have no newer messages.",
      key: 'admin',
      body: verificationBodySchema,
      limits,
      status: 202,
      answer: verificationSchema,
    },
    async (_context, { principal: { organization }, body, askInstallation }) =>
      await (await askInstallation(projector.startVerification, { body: { ...body, organization } })).json(),
  ),
  publicRoute(
    {
      id: 'readInstallationVerification',
      method: 'GET',
      path: '/v1/installation/verification',
      summary: 'Returns the last verification of all logs of the installation, and the state of one that runs.',
      key: 'operator',
      answer: verificationSchema,
    },
    async (_context, { askInstallation }) =>
      await (await askInstallation(projector.readVerification, { body: {} })).json(),
  ),
  publicRoute(
    {
      id: 'startInstallationVerification',
      method: 'POST',
      path: '/v1/installation/verification',
      summary:
        'Starts a verification of all logs of the installation, with the gaps of each stream. It is as for one organization otherwise.',
      key: 'operator',
      body: verificationBodySchema,
      limits,
      status: 202,
      answer: verificationSchema,
    },
    async (_context, { body, askInstallation }) =>
      await (await askInstallation(projector.startVerification, { body })).json(),
  ),
];
