import { z } from 'zod';

/** What is counted, by the log that says it. Exports that are replays count in `exportsStarted`, too. */
export const usageFigureNames = [
  'exportsStarted',
  'exportsReplayed',
  'exportsCompleted',
  'exportsFailed',
  'exportsCancelled',
  'pagesExported',
  'bundleBytes',
  'linksSigned',
  'publications',
  'pagesPublished',
  'publishedBytes',
] as const;

export type UsageFigureName = (typeof usageFigureNames)[number];

const figure = z.int().min(0);

/** Figures of a day; those that are 0 are left out. */
export const someUsageFiguresSchema = z.partialRecord(z.enum(usageFigureNames), figure);

export type SomeUsageFigures = z.infer<typeof someUsageFiguresSchema>;
