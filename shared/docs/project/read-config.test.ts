import { describe, expect, it } from 'vitest';
import { memoryProject } from '../../../test/support/memory-project.ts';
import { resolveReferences } from './read-config.ts';

const resolve = (files: Record<string, string>) => resolveReferences(memoryProject(files), 'docs.json');

describe('$ref in docs.json', () => {
  it('is replaced by the file it names, relative to the file that contains it', async () => {
    const { value, files } = await resolve({
      'docs.json': '{"navigation": {"$ref": "./config/nav.json"}, "list": [{"$ref": "config/one.json"}]}',
      'config/nav.json': '{"groups": {"$ref": "./one.json"}}',
      'config/one.json': '[1]',
    });
    expect(value).toEqual({ navigation: { groups: [1] }, list: [[1]] });
    expect(files).toEqual(['docs.json', 'config/nav.json', 'config/one.json']);
  });

  it('is overridden by the keys beside it', async () => {
    const { value } = await resolve({
      'docs.json': '{"a": {"$ref": "b.json", "x": 1}}',
      'b.json': '{"x": 2, "y": 3}',
    });
    expect(value).toEqual({ a: { x: 1, y: 3 } });
  });

  it.each([
    ['config-cycle', { 'docs.json': '{"$ref": "docs.json"}' }],
    ['config-cycle', { 'docs.json': '{"a": {"$ref": "b.json"}}', 'b.json': '[{"$ref": "./docs.json"}]' }],
    ['config-reference', { 'docs.json': '{"$ref": "../secret.json"}' }],
    ['config-reference', { 'docs.json': '{"$ref": "https://example.invalid/x.json"}' }],
    ['config-reference', { 'docs.json': '{"$ref": "gone.json"}' }],
    ['config-reference', { 'docs.json': '{"$ref": 3}' }],
    ['bad-config', { 'docs.json': '{"a": 1,}' }],
    ['config-too-deep', { 'docs.json': `${'['.repeat(2000)}${']'.repeat(2000)}` }],
    ['config-too-large', { 'docs.json': ' '.repeat(6_000_000) }],
  ])('is refused with %s', async (code, files) => {
    await expect(resolve(files)).rejects.toMatchObject({ name: 'InvalidProject', code, file: expect.any(String) });
  });

  it('cannot multiply without limit', async () => {
    const files: Record<string, string> = { 'docs.json': '{"$ref": "0.json"}', '9.json': '[1]' };
    for (let level = 0; level < 9; level += 1)
      files[`${level}.json`] = JSON.stringify(Array.from({ length: 10 }, () => ({ $ref: `${level + 1}.json` })));
    await expect(resolve(files)).rejects.toMatchObject({ code: 'config-too-large' });
  });
});
