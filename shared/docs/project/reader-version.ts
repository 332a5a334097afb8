import { codeHash } from '#shared/docs/render/renderer-version.ts';

/** Folders whose code determines the site model of a project. */
const readerFolders = ['shared/docs/project/', 'shared/docs/reference/', 'shared/docs/icons/', 'shared/docs/format/'];

/**
 * Hash of the code that reads projects, 12 hex digits. It is a part of the name of a content version, so a project that is published again after an
 * upgrade is read again: the new code may read it in another way. Rejects if our files cannot be read.
 */
export const readerVersion = (): Promise<string> => codeHash(readerFolders);
