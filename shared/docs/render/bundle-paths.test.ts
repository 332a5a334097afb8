import { expect, test } from 'vitest';
import { encodePath } from './bundle-paths.ts';

test('characters that an address allows stay, and all others are encoded', () => {
  const kept = "!'()*+,-./0123456789@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~";
  for (let code = 0; code < 0x80; code += 1) {
    const character = String.fromCharCode(code);
    const encoded = `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
    expect(encodePath(`guides/a${character}b`)).toBe(`guides/a${kept.includes(character) ? character : encoded}b`);
  }
  expect(encodePath('führer/日本.html')).toBe('f%C3%BChrer/%E6%97%A5%E6%9C%AC.html');
  expect(encodePath('a/b\n')).toBe('a/b%0A');
});
