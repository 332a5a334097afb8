import { isPackaged } from './installed-packages.ts';

/** How a reader types the command: in a clone its npm script, which brings the right Node; else the package's program. */
export const binderyCommand = isPackaged ? 'npx bindery' : 'npm run -s bindery --';

/** How a reader starts everything. */
export const startCommand = isPackaged ? 'npx bindery start' : 'npm start';
