import { inGeneration } from '#shared/interfaces/read-models.ts';
import {
  type BucketRow,
  bucketRows,
  type BusUser,
  busUsers,
  coreRows,
  durableRows,
  renderDurable,
  streamRows,
} from '#shared/messaging/subjects/subject-table.ts';
import { code, markdownTable, page, plain } from './markdown.ts';

/** Page of streams, buckets and plain subjects with their writers and readers, from the table that also makes the rights of NATS users. */
export function busPage(): string {
  const durables = [...durableRows, renderDurable('*')];
  const streams = streamRows.map((row) => {
    const counters = row.counters.length === 0 ? '' : `; ${users(row.counters)} counts its messages`;
    const readers = [
      ...(row.followers ?? []),
      ...row.last,
      ...row.history,
      ...(row.auditors ?? []),
      ...durables.filter(({ stream }) => stream === row.name).map(({ reader }) => reader),
    ];
    return [
      code(row.name),
      codes(row.subjects),
      row.subjectsOf === undefined ? users(row.writers) : writersOf({ ...row, keysOf: row.subjectsOf }),
      users(readers) + counters,
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
      furtherReadersOf(row),
      // `kept` is Markdown, so it is not escaped.
      row.kept,
    ]);
  const subjects = coreRows.map((row) => [
    code(row.subject),
    row.writers.length === 0 ? 'the server' : users(row.writers),
    users(row.readers),
  ]);
  return page(
    'Streams, buckets and rights',
    'The streams and buckets of the bus, with the users that may write and read them.',
    'Every service has a NATS user with its name; `auditor` and `operator` are users of the command line. Each user has the rights in these tables, and the server refuses everything else. `provisioner` creates streams, buckets and consumers and reads no message.',
    '## Streams',
    markdownTable(['stream', 'subjects', 'written by', 'read by', 'removed by', 'kept'], streams),
    '## Buckets',
    'A bucket keeps the newest value of each key. Writers may also read it. A writer with keys in parentheses may write only these, and reads only these unless it is also among the readers. Each bucket of a read model has a second generation with `-green` in its name, which a rebuild fills.',
    markdownTable(['bucket', 'keys', 'written by', 'also read by', 'kept'], buckets),
    '## Subjects that are not stored',
    markdownTable(['subject', 'written by', 'read by'], subjects),
  );
}

const writersOf = ({ writers, keysOf = {} }: Pick<BucketRow, 'writers' | 'keysOf'>): string =>
  writers.length === 0
    ? 'nobody'
    : writers.map((user) => (keysOf[user] === undefined ? user : `${user} (${codes(keysOf[user])})`)).join(', ');

/** Readers that are no writers, and writers of some keys that read all. */
const furtherReadersOf = ({ readers, writers, readsOf = {} }: BucketRow): string =>
  users([...readers.filter((reader) => !writers.includes(reader)), ...(Object.keys(readsOf) as BusUser[])]);

const codes = (texts: readonly string[]): string => texts.map(code).join(', ');

function users(names: readonly string[]): string {
  const known = new Set(names);
  if (known.size === 0) return 'nobody';
  const services = busUsers.filter((user) => user !== 'auditor' && user !== 'operator');
  return services.every((name) => known.has(name)) ? 'any service' : [...known].join(', ');
}
