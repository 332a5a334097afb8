import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';

const isLicence = (name: string): boolean => /^(licen[cs]e|copying|notice)/i.test(name) && !name.endsWith('.js');

/**
 * Writes the names, versions, licences and licence texts of the packages that have these modules into a file. Rejects for a package that says no
 * licence.
 */
export async function writeNotices(modules: readonly string[], file: string): Promise<void> {
  const folders = [...new Set(modules.map(folderOf))].sort();
  const notices = await Promise.all(folders.map(noticeOf));
  const intro = 'The compiled programs of this package contain code of the following packages.\n';
  await writeFile(file, [intro, ...new Set(notices)].join(`\n${'-'.repeat(80)}\n\n`));
}

/** The folder of the package that has the module. */
function folderOf(module: string): string {
  const parts = module.split(sep);
  const at = parts.lastIndexOf('node_modules');
  return parts.slice(0, at + (parts[at + 1]?.startsWith('@') === true ? 3 : 2)).join(sep);
}

async function noticeOf(folder: string): Promise<string> {
  const manifest = join(folder, 'package.json');
  const { name, version, license, author } = JSON.parse(await readFile(manifest, 'utf8')) as Record<string, unknown>;
  if (typeof license !== 'string') throw new Error(`The package ${String(name)} names no licence.`);
  const texts = (await readdir(folder)).filter(isLicence).sort();
  const written = await Promise.all(texts.map((each) => readFile(join(folder, each), 'utf8')));
  const by = typeof author === 'string' ? author : ((author as { name?: string } | undefined)?.name ?? String(name));
  const body = written.length > 0 ? written.map((text) => text.trim()).join('\n\n') : textOf(license, by);
  return `${String(name)} ${String(version)} (${license})\n\n${body}\n`;
}

/** The text of a licence, for a package that names it and has no file of it. */
function textOf(licence: string, by: string): string {
  if (licence === 'Apache-2.0')
    return `Copyright ${by}\n\nThe text of this licence is in the file LICENSE of this package.`;
  if (licence !== 'MIT') throw new Error(`A package under ${licence} has no text of it.`);
  return `Copyright ${by}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to
deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or
sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS
IN THE SOFTWARE.`;
}
