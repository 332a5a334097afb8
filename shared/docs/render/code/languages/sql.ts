import { after, lexer, word } from '../lexer.ts';
import { plain } from '../runs.ts';

const keywords = `value status data add all alter analyze and any as asc    auto_increment before begin between by cascade case cast check
  collate collation column commit   constraint create cross current_date current_time current_timestamp cursor database databases
  declare default deferrable deferred delete desc describe  distinct do domain drop each else elsif end engine escape except exclude exclusive
  execute exists explain fail false fetch filter first following for foreign from full function  grant group having if ignore immediate in
  index  initially inner insert instead intersect interval into is isnull join key language last lateral left like limit match
   natural no not nothing notnull null nulls of offset on only or order outer over partition plan  preceding primary procedure
  publication query raise range recursive references regexp reindex release rename replace restrict returning returns revoke right role rollback
  row rows savepoint schema select sequence set show some  table tables temp temporary then ties to transaction trigger true truncate
  type unbounded union unique update use using  values view  when where window with within without  declare `;
const types = ` bigint bigserial binary bit blob bool boolean bytea char character cidr date datetime decimal double enum float geography geometry inet
  int int2 int4 int8 integer interval json jsonb mediumint mediumtext money nchar numeric nvarchar precision real serial smallint
  smallserial text time timestamp timestamptz timetz tinyint tinytext uuid varbinary varchar varying  year longtext unsigned number`;
const functions = 'avg count max min sum coalesce';

export const sqlLexer = lexer({
  code: [
    ['\\-', /--.*/, 'tm'],
    ['/', /\/\*[^]*?(?:\*\/|$(?![^]))/, 'tm'],
    ['#', /#.*/, 'tm'],
    ["'", /'(?:''|[^'])*'?/, 'te'],
    ['"', /"(?:""|[^"])*"?/, 'te'],
    ['`', /`[^`\n]*`?/, 'te'],
    ['@:$', /[@:$]\w+/, plain],
    ['\\d', /\d[\w.]*/, 'tc'],
    [
      'A-Za-z_',
      /[A-Za-z_]\w*/,
      word(
        { tk: `${keywords} ${types}`, tf: functions },
        {
          names: { tf: 'table view function procedure trigger database role' },
          ignoresCase: true,
          isName: (cursor) => {
            const text = cursor.code.slice(cursor.from, cursor.end).toLowerCase();
            if (functionNames.has(text)) return after(cursor) !== 0x28;
            return cursor.code.charCodeAt(cursor.from - 1) === 0x2e || cursor.code.charCodeAt(cursor.end) === 0x2e;
          },
        },
      ),
    ],
    ['=<>!+*/%|&~\\-', /[=<>!+*/%|&~-]/, 'tk'],
  ],
});

const functionNames = new Set(functions.split(' '));
