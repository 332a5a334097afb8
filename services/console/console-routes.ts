import { assistantRoutes } from './pages/assistant.ts';
import { auditRoutes } from './pages/audit.ts';
import { conversationRoutes } from './pages/conversation.ts';
import { doctorPage } from './pages/doctor.ts';
import { deadLetterRoutes } from './pages/dead-letters.ts';
import { domainRoutes } from './pages/domains/domain-routes.ts';
import { exportRoutes } from './pages/export.ts';
import { exportListRoutes } from './pages/exports.ts';
import { findPage } from './pages/find.ts';
import { housekeepingPage } from './pages/housekeeping.ts';
import { installationPage } from './pages/installation.ts';
import { keyRoutes } from './pages/keys.ts';
import { organizationRoutes } from './pages/organization.ts';
import { organizationListRoutes } from './pages/organizations.ts';
import { overviewPage } from './pages/overview.ts';
import { usageRoutes } from './pages/usage.ts';
import { verificationRoutes } from './pages/verification.ts';
import { workPage } from './pages/work.ts';
import type { ConsoleRoute } from './page.ts';

/** All pages, forms and streams of the console, except for signing in and out. */
export const consoleRoutes: readonly ConsoleRoute[] = [
  overviewPage,
  findPage,
  ...domainRoutes,
  ...exportListRoutes,
  ...exportRoutes,
  ...keyRoutes,
  ...assistantRoutes,
  ...conversationRoutes,
  ...auditRoutes,
  ...verificationRoutes,
  ...usageRoutes,
  ...organizationListRoutes,
  ...organizationRoutes,
  installationPage,
  doctorPage,
  workPage,
  ...deadLetterRoutes,
  housekeepingPage,
];
