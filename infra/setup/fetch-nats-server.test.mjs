import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { findServer } from './server-locations.mjs';
import { tarGzMember, zipMember } from './fetch-nats-server.mjs';

const program = randomBytes(3_000);

async function tarGz(files) {
  const tar = pack();
  const chunks = [];
  tar.on('data', (chunk) => chunks.push(chunk));
  for (const [name, bytes] of files) tar.entry({ name }, bytes);
  tar.finalize();
  await once(tar, 'end');
  return gzipSync(Buffer.concat(chunks));
}

describe('a program in an archive', () => {
  test('is read from a tar.gz, behind other files', async () => {
    const archive = await tarGz([
      ['nats-server-v1/LICENSE', Buffer.from('text')],
      ['nats-server-v1/nats-server', program],
    ]);
    expect(tarGzMember(archive, 'nats-server')).toEqual(program);
    expect(tarGzMember(archive, 'server')).toBeUndefined();
  });

  test.skipIf(findServer('python3') === undefined)('is read from a zip, stored or deflated', () => {
    const script = `import io, sys, zipfile
out = io.BytesIO()
with zipfile.ZipFile(out, 'w') as z:
    z.writestr('a/first', 'text')
    z.writestr('a/stored', sys.stdin.buffer.read(), zipfile.ZIP_STORED)
    z.writestr('a/deflated', b'x' * 5000, zipfile.ZIP_DEFLATED)
sys.stdout.buffer.write(out.getvalue())`;
    const archive = execFileSync(findServer('python3'), ['-c', script], { input: program });
    expect(zipMember(archive, 'stored')).toEqual(program);
    expect(String(zipMember(archive, 'deflated'))).toBe('x'.repeat(5000));
    expect(zipMember(archive, 'third')).toBeUndefined();
  });
});
