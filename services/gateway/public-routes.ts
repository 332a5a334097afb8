import { auditRoutes } from './audit/audit-routes.ts';
import { contentRoutes } from './content/content-routes.ts';
import { apiKeyRoutes } from './directory/api-key-routes.ts';
import { organizationRoutes } from './directory/organization-routes.ts';
import { discoveryRoutes } from './discovery/discovery-routes.ts';
import { exportRoutes } from './exports/export-routes.ts';
import { signedDownloadRoutes } from './exports/signed-download.ts';
import { openApiRoute } from './openapi.ts';
import type { PublicRoute } from './public-route.ts';

/** All that the gateway answers, besides its health. The description, the reference and the matrix of keys are made from it. */
export const publicRoutes: readonly PublicRoute[] = [
  ...organizationRoutes,
  ...apiKeyRoutes,
  ...contentRoutes,
  ...exportRoutes,
  ...auditRoutes,
  ...discoveryRoutes,
  ...signedDownloadRoutes,
  openApiRoute(() => publicRoutes),
];
