import { codeHash } from '#shared/docs/render/renderer-version.ts';

/** Folders whose code determines the site model of a project. */
const readerFolders = ['shared/docs/project/', 'shared/docs/reference/', 'shared/docs/icons/', 'shared/docs/format/'];

/**
 * 12 hex digits: a hash of the code that reads projects. It is a part of the name of a content version, so that a project that is published again after
 * an upgrade is read again: a later version may read it better, or leave out what an earlier one showed. Rejects if our files cannot be read.
 */
export const readerVersion = (): Promise<string> => codeHash(readerFolders);
