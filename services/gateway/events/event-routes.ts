import { Readable } from 'node:stream';
import { z } from 'zod';
import { domainDeploymentSchema, followingSchema } from '#shared/interfaces/http/events.ts';
import { exportJobSchema } from '#shared/interfaces/http/exports.ts';
import { disconnectSignal } from '#shared/http/client-connection.ts';
import { publicRoute } from '../public-route.ts';
import { organizationEvents } from './organization-events.ts';

/** Changes of an organization as they happen. */
export const eventRoutes = [
  publicRoute(
    {
      id: 'followEvents',
      method: 'GET',
      path: '/v1/events',
      summary: 'Streams the exports and deployments of the organization as they change.',
      key: 'admin',
      alsoAs: {
        'text/event-stream': {
          description:
            'First an event "following"; then "export" and "deployment" for each one that is new or changed, and a comment every 15 s. An event can repeat a known state. After a lost connection, a client reads the lists again.',
          item: z.union([followingSchema, exportJobSchema, domainDeploymentSchema]),
        },
      },
    },
    async (context, { principal: { organization }, request, reply }) => {
      const signal = AbortSignal.any([disconnectSignal(reply.raw), context.stopping]);
      // The answer to HEAD has no body, so its client never disconnects from the stream.
      const events = request.method === 'HEAD' ? [] : organizationEvents(context, organization, signal);
      return reply
        .headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
        .send(Readable.from(events));
    },
  ),
];
