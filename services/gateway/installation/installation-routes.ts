import { serviceListSchema } from '#shared/interfaces/http/installation.ts';
import { readinessOf } from '#shared/runtime/health-routes.ts';
import { programVersion } from '#shared/runtime/program-version.ts';
import { gatewayHealth } from '../gateway-health.ts';
import { publicRoute } from '../public-route.ts';
import { askedHealth, healthOf } from './service-health.ts';

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
      const [own, ...called] = await Promise.all([
        readinessOf('gateway', gatewayHealth(context)),
        askedHealth('publisher', config.publisherUrl),
        askedHealth('link-signer', config.linkSignerUrl),
        askedHealth('assistant', config.assistantUrl),
      ]);
      return { gateways: liveGateways(), services: [healthOf({ ...own, version: programVersion }), ...called] };
    },
  ),
];
