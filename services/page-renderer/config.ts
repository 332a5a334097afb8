import { availableParallelism } from 'node:os';
import { serviceSettings } from '#shared/service/common-settings.ts';
import { type ConfigOf, setting, wholeNumber } from '#shared/runtime/config.ts';

export const pageRendererSettings = {
  ...serviceSettings('page-renderer'),
  slots: setting(
    'BINDERY_RENDERER_SLOTS',
    wholeNumber(1, 256).default(availableParallelism()),
    'child processes of a renderer that render chunks at the same time; it reads and stores one more chunk meanwhile; default: one per processor',
  ),
  pageDeadlineMs: setting(
    'BINDERY_PAGE_DEADLINE_MS',
    wholeNumber(100, 120_000).default(10_000),
    'deadline for rendering a page, in milliseconds; then its process is killed, and the page fails after a second attempt',
  ),
};

export type PageRendererConfig = ConfigOf<typeof pageRendererSettings>;
