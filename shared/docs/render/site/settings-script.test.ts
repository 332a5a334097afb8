import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';

const script = readFileSync(new URL('scripts/site/settings.js', import.meta.url), 'utf8');

const good = {
  deployment: 'cloud',
  features: { search: 'server', assistant: true, analytics: true, playground: true },
  siteUrl: '',
  serverUrl: 'https://bindery.test',
  assistantKey: `svc_dsc_${'0'.repeat(36)}`,
  domain: 'acme',
  analytics: { plausible: { domain: 'docs.acme.test' } },
};

/** Settings that a page reads from its config.js, and its messages in the console. */
function used(found: unknown): { config: typeof good; said: string[] } {
  const said: string[] = [];
  const console = { warn: (text: string) => said.push(text) };
  const text = found === undefined ? '' : JSON.stringify(found);
  const config: unknown = runInNewContext(`${script}; JSON.stringify(usableConfig(${text}))`, { console });
  return { config: JSON.parse(String(config)) as typeof good, said };
}

describe('the settings of a site', () => {
  test('are used unchanged if they are valid', () => {
    expect(used(good)).toEqual({ config: good, said: [] });
    expect(used({ ...good, serverUrl: 'http://127.0.0.1:8080/' }).config.serverUrl).toBe('http://127.0.0.1:8080');
  });

  test('that are invalid switch off the features that need them, with one message', () => {
    const wrong = {
      ...good,
      features: { search: 'everywhere', assistant: 'yes', analytics: 1, playground: true, chat: true },
      serverUrl: 'javascript:alert(1)',
      analytics: { plausible: 'docs.acme.test' },
    };
    const { config, said } = used(wrong);
    expect(config.features).toEqual({ search: 'off', assistant: false, analytics: false, playground: true });
    expect(config).toMatchObject({ serverUrl: '', analytics: {} });
    expect(said).toHaveLength(1);
    for (const name of [
      'features.search',
      'features.assistant',
      'features.analytics',
      '"chat"',
      'serverUrl',
      'analytics must',
    ])
      expect(said[0]).toContain(name);
  });

  test('with an unknown name are reported, because they may be misspelled', () => {
    const { config, said } = used({ ...good, sitUrl: 'https://docs.acme.test' });
    expect(config).toEqual(good);
    expect(said).toEqual(['_bindery/config.js: There is no setting "sitUrl".']);
  });

  test.each(['', 'svc_0123', `svc_${'0'.repeat(36)}`])('without a good key (%s) search uses its own index', (key) => {
    const { config, said } = used({ ...good, assistantKey: key });
    expect(config.features).toMatchObject({ search: 'bundle', assistant: false });
    expect(config.assistantKey).toBe('');
    expect(said.join()).toContain('Without assistantKey');
    if (key !== '') expect(said.join()).not.toContain(key);
  });

  test('without a server are valid if no feature needs one', () => {
    const features = { search: 'bundle', assistant: false, analytics: false, playground: true };
    expect(used({ ...good, features, serverUrl: '', assistantKey: '' }).said).toEqual([]);
  });

  test('of the wrong type are never used, and are reported', () => {
    const listed = used({ ...good, features: { ...good.features, search: ['server'], toString: true } });
    expect(listed.config.features.search).toBe('off');
    for (const name of ['features.search', '"toString"']) expect(listed.said.join()).toContain(name);
    for (const features of ['all', [true], null]) {
      const { config, said } = used({ ...good, features });
      expect(config.features).toEqual({ search: 'off', assistant: false, analytics: false, playground: false });
      expect(said.join()).toContain('features must be an object');
    }
    expect(used([good]).said.join()).toContain('syntax error');
  });

  test.each([undefined, null, 'x', 7, { features: 7 }])('that are not an object (%j) leave everything off', (found) => {
    const { features } = used(found).config;
    expect(features).toEqual({ search: 'off', assistant: false, analytics: false, playground: false });
  });
});
