import type { CrashPoint } from '#shared/lifecycle/crash-point.ts';
import type { ServiceName } from '#infra/supervisor/service-names.ts';

/** Every named place of the export path, in the order in which an export comes by, and the service that is there. */
export const crashPlaces: readonly [CrashPoint, ServiceName][] = [
  ['after-request-append', 'gateway'],
  ['before-ack', 'projector'],
  ['after-plan-object', 'orchestrator'],
  ['after-plan-commit', 'orchestrator'],
  ['after-task-publish', 'orchestrator'],
  ['after-segment-put', 'page-renderer'],
  ['after-sidecar-put', 'page-renderer'],
  ['after-fact', 'page-renderer'],
  ['before-ack', 'page-renderer'],
  ['mid-upload', 'bundler'],
  ['after-upload', 'bundler'],
  ['after-bundle-fact', 'bundler'],
  ['before-ack', 'bundler'],
  ['after-completed', 'orchestrator'],
];
