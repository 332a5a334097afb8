/* Limits of API descriptions and of the files that are made from them. Services check them without loading the parsers. */

/** Limit of the size of a description. */
export const maxSpecificationBytes = 16 * 1024 * 1024;
/** Maximum size of all slices of a project. The content of operations has the same limit again. */
export const maxSliceBytes = 64 * 1024 * 1024;
/** Maximum size of all files that are made for the pages of a project. */
export const maxMadeBytes = 2 * maxSliceBytes;
