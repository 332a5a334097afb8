import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sourceFiles } from './source-files.ts';

const program = [...sourceFiles()].filter(([file]) => /^(services|shared)\//.test(file) && !file.endsWith('.test.ts'));
const httpServer = /\bFastify\(|from 'node:http'[^]*\bcreateServer\(/;

describe('every HTTP server', () => {
  const servers = program.filter(([, text]) => httpServer.test(text));

  test('is found by its code', () => {
    expect(servers.length).toBeGreaterThan(4);
  });

  test.each(servers)('of %s gives slow clients the same time as the others', (file, text) => {
    expect(text, `${file} makes an HTTP server: spread headerTimeouts into its options`).toContain('headerTimeouts');
    const beside = program.filter(([other]) => dirname(other) === dirname(file));
    const advice = `${file} makes an HTTP server: call endSlowClients() for it in that folder`;
    expect(
      beside.some(([, other]) => other.includes('endSlowClients(')),
      advice,
    ).toBe(true);
  });
});
