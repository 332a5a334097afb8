/** Entry of the child processes that read pages. */
export const pageReaderEntry = new URL('./read-page-child.ts', import.meta.url);
