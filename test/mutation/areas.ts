/**
 * An area of code that would fail silently if a test were missing. All of the code is pure, so its tests are quick enough to run for each changed
 * line.
 */
export type Area = {
  name: string;
  /** Patterns of the files that are changed, among which test files do not count. */
  files: readonly string[];
  /** Patterns of the unit tests that must notice a change, the quickest first. */
  tests: readonly string[];
};

export const areas: readonly Area[] = [
  {
    name: 'aggregates',
    files: ['shared/aggregates/*/*.ts'],
    // The tests of the limits of content take seconds, so each limit also has a quick test.
    tests: [
      'shared/aggregates/golden.test.ts',
      'shared/aggregates/content/{content,decide}.test.ts',
      'shared/aggregates/{directory,thread}/*.test.ts',
      'shared/aggregates/export-job/*.test.ts',
    ],
  },
  {
    name: 'bundle format',
    files: ['shared/export/bundle/*.ts'],
    tests: [
      'shared/export/bundle/{archive-names,bundle-names,crc32-combine,tar-header,packed-segment,verify-bundle}.test.ts',
      'shared/export/bundle/*.test.ts',
      'services/page-renderer/store-segment.test.ts',
    ],
  },
  {
    name: 'permission table',
    files: ['shared/messaging/subjects/{permissions,subject-table}.ts'],
    tests: ['shared/messaging/subjects/*.test.ts'],
  },
  {
    name: 'link filter',
    files: ['services/assistant/link-filter.ts'],
    tests: ['services/assistant/link-filter.test.ts'],
  },
];
