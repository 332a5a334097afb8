import { inGeneration } from '#shared/contracts/read-models.ts';
import {
  type BucketRow,
  bucketRows,
  busUsers,
  coreRows,
  durableRows,
  renderDurable,
  streamRows,
} from '#shared/messaging/subjects/subject-table.ts';
import { code, markdownTable, page, plain } from './markdown.ts';

/** Streams, buckets and plain subjects, and who may write and read each: the table from which the rights of NATS users are made. */
export function busPage(): string {
  const durables = [...durableRows, renderDurable('*')];
  const streams = streamRows.map((row) => {
    const readers = [
      ...row.last,
      ...row.history,
      ...(row.auditors ?? []),
      ...durables.filter(({ stream }) => stream === row.name).map(({ reader }) => reader),
    ];
    return [
      code(row.name),
      codes(row.subjects),
      users(row.writers),
      users(readers),
      users(row.purgers),
      plain(row.kept),
    ];
  });
  const buckets = bucketRows
    .filter(({ name }) => !name.endsWith(inGeneration('', 'green')))
    .map((row) => [
      code(row.name),
      codes(row.key.split(', ')),
      row.ownKey === true ? `${users(row.writers)}, each its own name` : writersOf(row),
      users(row.readers.filter((reader) => !row.writers.includes(reader))),
      // It is Markdown already.
      row.kept,
    ]);
  const subjects = coreRows.map((row) => [
    code(row.subject),
    row.writers.length === 0 ? 'the server' : users(row.writers),
    users(row.readers),
  ]);
  return page(
    'Streams, buckets and rights',
    'What the bus keeps, who may write it, and who may read it.',
    'Every service has a NATS user of its own name; `auditor` and `operator` are users of the command line. Each may do what these tables say and nothing else: the server refuses the rest. `provisioner` makes streams, buckets and consumers and reads no message.',
    '## Streams',
    markdownTable(['stream', 'subjects', 'written by', 'read by', 'removed by', 'kept'], streams),
    '## Buckets',
    'A bucket keeps the newest value of each key; its writers also read it. Keys behind a writer are all that it may write. Each bucket of a read model has a second generation with `-green` in its name, which a rebuild fills.',
    markdownTable(['bucket', 'keys', 'written by', 'also read by', 'kept'], buckets),
    '## Subjects that nothing keeps',
    markdownTable(['subject', 'written by', 'read by'], subjects),
  );
}

const writersOf = ({ writers, keysOf = {} }: BucketRow): string =>
  writers.length === 0
    ? 'nobody'
    : writers.map((user) => (keysOf[user] === undefined ? user : `${user} (${codes(keysOf[user])})`)).join(', ');

const codes = (texts: readonly string[]): string => texts.map(code).join(', ');

function users(names: readonly string[]): string {
  const known = new Set(names);
  if (known.size === 0) return 'nobody';
  const services = busUsers.filter((user) => user !== 'auditor' && user !== 'operator');
  return services.every((name) => known.has(name)) ? 'any service' : [...known].join(', ');
}
