import { afterAll } from 'vitest';
import { removeFolders } from './new-folder.ts';

// Runs before the tests of a file. The hooks of the file itself run earlier, so servers have stopped when their folders are removed.
afterAll(removeFolders);
