import { after, lexer } from '../lexer.ts';
import { plain } from '../runs.ts';

/** JSON with or without comments. */
export const jsonLexer = lexer({
  code: [
    ['"', /"(?:\\.|[^"\\\n])*"?/, (cursor) => (after(cursor) === 0x3a ? 'tk' : 'te')],
    ['\\d\\-', /-?\d[\w.+-]*/, 'tc'],
    ['tfn', /(?:true|false|null)\b/, 'tc'],
    ['/', /\/\/.*|\/\*[^]*?(?:\*\/|$(?![^]))/, 'tm'],
    [':', /:/, plain],
  ],
});
