import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '#shared/contracts/audit-entry.ts';
import { auditText } from './audit-list.ts';
import { noPaint } from './terminal.ts';

const looks = { width: 140, paint: noPaint };
const jobId = `se_${'a'.repeat(22)}`;
const keyId = `key_${'0'.repeat(16)}`;
const entry = (changes: Partial<AuditEntry>): AuditEntry => ({
  id: 'c.0',
  time: '2026-03-01T10:00:12.300Z',
  action: 'export.requested',
  actor: { kind: 'key', id: keyId },
  domain: 'docs',
  jobId,
  commit: { subject: 's', revision: 1, id: 'c' },
  ...changes,
});

describe('the audit', () => {
  test('has a head for each day, and columns under each other', () => {
    const lines = auditText(
      {
        entries: [
          entry({
            action: 'link.signed',
            address: '192.0.2.7',
            expiresAt: '2026-03-02T11:00:00.000Z',
            time: '2026-03-02T10:00:00.000Z',
          }),
          entry({
            action: 'export.completed',
            actor: { kind: 'service', id: 'orchestrator' },
            pageCount: 1_204,
            sizeBytes: 3_400_000,
          }),
          entry({}),
        ],
        nextCursor: 'abc',
      },
      looks,
    ).split('\n');
    expect(lines).toEqual([
      '2026-03-02 Monday (UTC)',
      `10:00:00  link.signed       ${keyId}  docs ${jobId}  from 192.0.2.7, good until 2026-03-02 11:00`,
      '',
      '2026-03-01 Sunday (UTC)',
      `10:00:12  export.completed  orchestrator          docs ${jobId}  1,204 pages, 3.4 MB`,
      `10:00:12  export.requested  ${keyId}  docs ${jobId}`,
      '',
      'More: --cursor abc',
    ]);
  });

  test('says what is too long for a line below it', () => {
    const text = auditText(
      { entries: [entry({ action: 'export.failed', error: 'guides/x: too slow' })] },
      { ...looks, width: 80 },
    );
    expect(text.split('\n')[2]).toBe('          ↳ guides/x: too slow');
  });

  test('shows what others wrote without anything that a terminal would obey', () => {
    const text = auditText({ entries: [entry({ action: 'key.created', name: 'a\u001b[2J\nb', keyId })] }, looks);
    expect(text).toContain('"a [2J b"');
    expect(text.split('\n')).toHaveLength(2);
  });

  test.each<[Partial<AuditEntry>, RegExp]>([
    [{ action: 'export.replayed', replayOf: 'se_x' }, /of se_x$/],
    [
      { action: 'content.labelled', jobId: undefined, contentVersion: `cv_${'12'.repeat(16)}`, label: 'v2' },
      /docs cv_12121212…  label v2$/,
    ],
    [{ action: 'content.published', source: { commit: 'a'.repeat(40), branch: 'main' } }, /main at aaaaaaa$/],
    [
      {
        action: 'key.rotated',
        jobId: undefined,
        domain: undefined,
        keyId,
        oldKeyId: 'key_old',
        expiresAt: '2026-03-03T10:00:00.000Z',
      },
      new RegExp(`${keyId}  ${keyId}  replaces key_old, which is good until 2026-03-03 10:00$`),
    ],
    [
      { action: 'organization.changed', jobId: undefined, domain: undefined, name: 'Acme', plan: 'pro' },
      /"Acme", plan pro$/,
    ],
    [
      { action: 'export.requested', addressHash: 'ab'.repeat(32), requestId: 'req_1' },
      new RegExp(`docs ${jobId}  address abababab…, request req_1$`),
    ],
  ])('%o', (changes, line) => {
    expect(auditText({ entries: [entry(changes)] }, looks)).toMatch(line);
  });

  test('without entries says so, and how to continue', () => {
    expect(auditText({ entries: [] }, looks)).toBe('There are no entries.');
    expect(auditText({ entries: [], nextCursor: 'abc' }, looks)).toBe('No entries found so far.\nMore: --cursor abc');
  });
});
