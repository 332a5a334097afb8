import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { beforeAll, expect, test } from 'vitest';
import type { ContentEvent } from '#shared/aggregates/content/content.ts';
import { type DirectoryCommit, directoryAggregate } from '#shared/aggregates/directory/directory.ts';
import { exportJobAggregate, type ExportCommit, type ExportEvent } from '#shared/aggregates/export-job/export-job.ts';
import type { Commit } from '#shared/contracts/commit.ts';
import { contentsKey, jobStatusKey } from '#shared/interfaces/read-models.ts';
import { commitHash, nextCommit } from '#shared/messaging/log/commit-chain.ts';
import type { StoredCommit, StoredText } from '#shared/messaging/log/event-log.ts';
import { connectBus } from '#shared/messaging/nats/connect-bus.ts';
import { provision } from '#shared/messaging/nats/provision.ts';
import { streamSettings } from '#shared/messaging/nats/wanted-settings.ts';
import { natsConfig } from '#shared/messaging/subjects/permissions.ts';
import { contentLogSubject, directoryLogSubject, exportLogSubject } from '#shared/messaging/subjects/subject-names.ts';
import { busUsers, streamRows } from '#shared/messaging/subjects/subject-table.ts';
import { describeWithServers } from '../support/describe-with-servers.ts';
import { contentCommit, exportRequested } from '../support/make-commit.ts';
import { newFolder } from '../support/new-folder.ts';
import { type NatsServer, startNatsServer } from '../support/start-bus.ts';

const time = (n: number) => new Date(Date.parse('2026-03-01T10:00:00.000Z') + n * 1_000);
const origin = (id: string, n: number) => ({
  id,
  source: 'test',
  actor: { kind: 'service' as const, id: 'test' },
  time: time(n),
  causationId: 'test',
  correlationId: 'test',
});
const jobOf = (letter: string) => `se_${letter.repeat(22)}`;
const subjectOf = (letter: string) => exportLogSubject('acme', jobOf(letter));

/** The five commits of one job, with their future stream sequences. */
function jobHistory(letter: string, sequences: number[]): StoredText[] {
  const rendered = { attempt: 1, renderer: 'r1', reused: false };
  const hash = '1'.repeat(64);
  const decisions: ExportEvent[][] = [
    [exportRequested({ jobId: jobOf(letter) })],
    [
      {
        type: 'PagesPlanned',
        version: 1,
        data: { planHash: hash, rendererVersion: 'r-000000000000', chunkCount: 1, pageTotal: 3 },
      },
    ],
    [
      { type: 'ChunkRendered', version: 1, data: { chunk: 0, pageCount: 3, durationMs: 5, ...rendered } },
      { type: 'RenderingFinished', version: 1, data: { pageCount: 3 } },
    ],
    [{ type: 'ClosingRendered', version: 1, data: { ...rendered, manifestSha256: hash } }],
    [
      {
        type: 'ExportCompleted',
        version: 1,
        data: { bundleKey: 'bundles/x', sizeBytes: 9, sha256: hash, manifestSha256: hash },
      },
    ],
  ];
  let last: StoredCommit<ExportCommit> | undefined;
  return decisions.map((events, index) => {
    const at = origin(`${letter}${index + 1}`, index);
    const state = events.reduce<ExportCommit['data']['state'] | undefined>(
      (before, event) => exportJobAggregate.evolve(before, event, { time: at.time.toISOString(), actor: at.actor }),
      last?.commit.data.state,
    );
    if (state === undefined) throw new Error('The decision has no events.');
    const commit: ExportCommit = nextCommit(subjectOf(letter), last, events, state, at);
    const sequence = sequences[index] ?? 0;
    last = { commit, sequence };
    return { subject: commit.subject, sequence, text: JSON.stringify(commit) };
  });
}

function contentHistory(firstSequence: number): StoredText[] {
  let last: StoredCommit<ReturnType<typeof contentCommit>> | undefined;
  const data = { organization: 'acme', domain: 'docs', contentVersion: `cv_${'1'.repeat(32)}` };
  const events: ContentEvent[] = [
    { type: 'ContentPublished', version: 1, data: { ...data, pageCount: 3, fileCount: 3, sizeBytes: 9 } },
    { type: 'ContentIndexed', version: 1, data: { ...data, passageCount: 12 } },
  ];
  return events.map((event, index) => {
    const commit = contentCommit(event, last);
    last = { commit, sequence: firstSequence + index };
    return { subject: commit.subject, sequence: last.sequence, text: JSON.stringify(commit) };
  });
}

function directoryHistory(): StoredText[] {
  const data = { organization: 'acme', name: 'Acme', plan: 'enterprise' as const };
  const event = { type: 'OrganizationCreated' as const, version: 1 as const, data };
  const state = directoryAggregate.evolve(undefined, event, {
    time: time(0).toISOString(),
    actor: { kind: 'operator', id: 'operator' },
  });
  const commit: DirectoryCommit = nextCommit(directoryLogSubject('acme'), undefined, [event], state, origin('d1', 0));
  return [{ subject: commit.subject, sequence: 1, text: JSON.stringify(commit) }];
}

type Logs = Record<'EXPORTS' | 'CONTENT' | 'DIRECTORY', StoredText[]>;

/** Three jobs with interleaved commits, and the other histories of an organization. */
function wholeLogs(): Logs {
  const turns = [0, 1, 2, 3, 4];
  const jobs = ['a', 'b', 'c'].map((letter, index) =>
    jobHistory(
      letter,
      turns.map((turn) => turn * 3 + index + 1),
    ),
  );
  return {
    EXPORTS: jobs.flat().toSorted((one, other) => one.sequence - other.sequence),
    CONTENT: contentHistory(1),
    DIRECTORY: directoryHistory(),
  };
}

const at = (messages: StoredText[], sequence: number): StoredText => {
  const found = messages.find((message) => message.sequence === sequence);
  if (found === undefined) throw new Error(`There is no message ${sequence}.`);
  return found;
};

describeWithServers(['nats-server'], 'bindery audit verify, over a real nats-server', () => {
  let server: NatsServer | undefined;
  let folder: string;
  const passwords = Object.fromEntries(
    [...busUsers, 'provisioner'].map((name) => [name, randomBytes(12).toString('hex')]),
  );

  beforeAll(async () => {
    folder = newFolder();
  });

  /**
   * Starts a server with these messages, some of them removed, as somebody with all rights could leave it. `seen` are the commits that read models
   * have. Streams get their protection from deletion only afterwards, because the tampering would be refused.
   */
  async function serverWith(logs: Logs, removed: { stream: keyof Logs; sequence: number }[], seen: StoredText[]) {
    const admin = '    { user: "admin", password: "admin-password" },\n';
    const configText = natsConfig({ passwords }).replace('users = [\n', (head) => head + admin);
    const started = (server = await startNatsServer({ configText }));
    const connection = await connect({ servers: started.url, user: 'admin', pass: 'admin-password' });
    const jsm = await jetstreamManager(connection);
    for (const [stream, messages] of Object.entries(logs)) {
      const row = streamRows.find(({ name }) => name === stream);
      if (row === undefined) throw new Error(`There is no stream ${stream}.`);
      await jsm.streams.add({ ...streamSettings(row, 1), deny_delete: false });
      for (const { subject, text, sequence } of messages) {
        expect((await jsm.jetstream().publish(subject, text)).seq).toBe(sequence);
      }
    }
    for (const { stream, sequence } of removed) await jsm.streams.deleteMessage(stream, sequence);
    await connection.close();
    await provision({ url: started.url, password: passwords['provisioner'] ?? '', rendererVersions: [] });
    const projector = await connectBus({
      url: started.url,
      service: 'projector',
      password: passwords['projector'] ?? '',
      instance: 'test',
    });
    for (const { subject, text } of seen) {
      const { revision, id, time: updatedAt, data } = JSON.parse(text) as Commit<never, never>;
      const document = { revision, commitId: id, updatedAt, state: data.state };
      const [kind, organization = '', name = ''] = subject.split('.');
      if (kind === 'exports')
        await projector.generations.blue.jobStatus.put(jobStatusKey(organization, name), document);
      else await projector.generations.blue.directoryContents.put(contentsKey(organization, name), document);
    }
    await projector.close();
    return started;
  }

  /** Runs the command in a separate process. */
  const verify = (...options: string[]) => verifyWith({}, ...options);
  const verifyWith = async (changes: Record<string, string>, ...options: string[]) => {
    if (server === undefined) throw new Error('There is no server.');
    const env = {
      ...process.env,
      // Without this, the command would use the audit key of an installation in this folder.
      BINDERY_DATA: join(folder, 'no-data'),
      BINDERY_NATS_URL: server.url,
      BINDERY_NATS_PASSWORD_AUDITOR: passwords['auditor'] ?? '',
      ...changes,
    };
    const main = fileURLToPath(new URL('../../services/cli/main.ts', import.meta.url));
    return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(
        process.execPath,
        [main, 'audit', 'verify', ...options],
        { env, timeout: 40_000 },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  };
  const stop = async () => {
    await server?.stop();
    server = undefined;
  };

  test('whole logs pass; scopes choose; the result names the heads', async () => {
    const logs = wholeLogs();
    await serverWith(logs, [], [at(logs.EXPORTS, 13), at(logs.EXPORTS, 5), at(logs.CONTENT, 2)]);
    expect(await verify()).toMatchObject({
      code: 0,
      stdout: [
        'EXPORTS    3 histories, 15 commits: whole',
        'CONTENT    1 history, 2 commits: whole',
        'SITES      0 histories, 0 commits: whole',
        'DIRECTORY  1 history, 1 commit: whole',
        'ACCESS     0 exports, 0 links: whole',
        '',
      ].join('\n'),
    });
    const one = await verify('--job', jobOf('b'), '--json');
    const result = JSON.parse(one.stdout);
    expect(result).toMatchObject({ whole: true });
    expect(result.streams[0]).toMatchObject({ stream: 'EXPORTS', historyCount: 1, commitCount: 5 });
    expect(result.streams.map(({ stream }: { stream: string }) => stream)).toEqual(['EXPORTS', 'ACCESS']);
    const last = JSON.parse(at(logs.EXPORTS, 14).text) as Commit;
    expect(result.streams[0].heads).toEqual([
      { subject: subjectOf('b'), revision: 5, commitId: last.id, hash: last.hash },
    ]);
    expect((await verify('--domain', 'docs')).stdout).toBe(
      'CONTENT    1 history, 2 commits: whole\nSITES      0 histories, 0 commits: whole\n',
    );
    // A mistyped name must not pass as an intact history.
    expect(await verify('--organization', 'nobody')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Nothing was verified: there is no such history.'),
    });
    expect(await verify('--job', 'x.>')).toMatchObject({ code: 1, stdout: '' });
    // These histories have no anchors.
    expect(result.anchorsChecked).toBe(false);
    expect((await verify('--job', jobOf('b'))).stderr).toContain('give BINDERY_AUDIT_KEY');
    const unanchored = await verifyWith({ BINDERY_AUDIT_KEY: 'some-audit-key-or-other' }, '--job', jobOf('b'));
    expect(unanchored.stdout).toContain(`unanchored: ${subjectOf('b')}, message 14 (revision 5)`);
    const none = ['--job', jobOf('b'), '--unanchored-before', '2026-03-02'];
    expect((await verifyWith({ BINDERY_AUDIT_KEY: 'some-audit-key-or-other' }, ...none)).code).toBe(0);
    await stop();
  });

  test('an installation on which nothing has happened yet is whole', async () => {
    await serverWith({ EXPORTS: [], CONTENT: [], DIRECTORY: [] }, [], []);
    expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringContaining('0 histories, 0 commits: whole') });
    await stop();
  });

  test('every damage is refused with its place', async () => {
    const logs = wholeLogs();
    const seen = [at(logs.CONTENT, 2)].map((message) => ({ ...message }));
    // Job a: revision 3 is removed below. Job b: revisions 2 and 3 are swapped. Job c: one byte is changed, and a changed state gets a hash that fits
    // it.
    const [two, three] = [at(logs.EXPORTS, 5), at(logs.EXPORTS, 8)];
    [two.text, three.text] = [three.text, two.text];
    const changed = at(logs.EXPORTS, 9);
    changed.text = changed.text.replace('"pageCount":3', '"pageCount":4');
    const last = at(logs.EXPORTS, 15);
    const forged = JSON.parse(last.text) as ExportCommit;
    forged.data.state.pageCount = 2;
    last.text = JSON.stringify({ ...forged, hash: commitHash(forged) });
    await serverWith(
      logs,
      [
        { stream: 'EXPORTS', sequence: 7 },
        { stream: 'CONTENT', sequence: 2 },
      ],
      seen,
    );
    const { code, stdout } = await verify('--json');
    expect(code).toBe(1);
    const result = JSON.parse(stdout);
    const [exports, content, directory] = result.streams;
    const places = exports.problems.map((problem: { problem: string; subject: string; sequence: number }) => [
      problem.problem,
      problem.subject,
      problem.sequence,
    ]);
    expect(places).toContainEqual(['hole', subjectOf('a'), 10]);
    expect(places).toContainEqual(['swapped', subjectOf('b'), 8]);
    expect(places).toContainEqual(['changed', subjectOf('c'), 9]);
    expect(places).toContainEqual(['wrong-state', subjectOf('c'), 15]);
    // The end of the content history is gone: its chain looks intact, but a read model has seen the commit, and its stream never deletes messages.
    expect(content.problems).toMatchObject([
      { problem: 'hole', subject: 'CONTENT', sequence: 2 },
      { problem: 'hole', subject: contentLogSubject('acme', 'docs'), sequence: 1, revision: 2 },
    ]);
    expect(directory.problems).toEqual([]);
    expect(result).toMatchObject({ whole: false, problemCount: exports.problems.length + 2 });
    const text = await verify('--job', jobOf('a'));
    expect(text).toMatchObject({ code: 1 });
    expect(text.stdout).toBe(
      `EXPORTS    1 history, 4 commits: 1 problem\nACCESS     0 exports, 0 links: whole\n  hole: ${subjectOf('a')}, message 10 (revision 4): Revision 3 is missing before it.\n`,
    );
    await stop();
  });

  test('without a way to the bus it says what to give, from a data folder it finds it itself', async () => {
    const logs = wholeLogs();
    const { port } = await serverWith(logs, [], []);
    await writeFile(join(folder, 'secrets.json'), JSON.stringify({ natsPasswords: passwords }));
    await writeFile(join(folder, 'ports.json'), JSON.stringify({ nats: port }));
    const { BINDERY_NATS_URL: _, BINDERY_NATS_PASSWORD_AUDITOR: __, ...env } = process.env;
    const main = fileURLToPath(new URL('../../services/cli/main.ts', import.meta.url));
    const run = (data: string) =>
      new Promise<string>((resolve) => {
        execFile(process.execPath, [main, 'audit', 'verify', '--data', data], { env }, (_error, stdout, stderr) =>
          resolve(stdout + stderr),
        );
      });
    expect(await run(folder)).toContain('EXPORTS    3 histories, 15 commits: whole');
    expect(await run(join(folder, 'none'))).toContain('Give BINDERY_NATS_URL and BINDERY_NATS_PASSWORD_AUDITOR');
    await stop();
    expect(await run(folder)).toMatch(/No answer from the bus at .* within 5 s/);
  }, 40_000);
});
