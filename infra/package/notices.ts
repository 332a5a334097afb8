import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { z } from 'zod';

const isLicence = (name: string): boolean => /^(licen[cs]e|copying|notice)/i.test(name) && !name.endsWith('.js');

/**
 * Writes the names, versions, sources, licences and licence texts of the packages that have these modules and other files into a file. Rejects for a package that says no
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
  const { name, version, license, author, homepage, repository } = manifestSchema.parse(
    JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')),
  );
  const texts = (await readdir(folder)).filter(isLicence).sort();
  const written = await Promise.all(texts.map((each) => readFile(join(folder, each), 'utf8')));
  const body =
    written.length > 0
      ? written.map((text) => text.trim()).join('\n\n')
      : textOf(license, author ?? (await authorOfIcons(folder)) ?? `the authors of ${name}`);
  return `${name} ${version} (${license})\n${repository ?? homepage ?? ''}\n\n${body}\n`;
}

/** The author of a set of icons, which its package has in another file. Undefined for another package. */
async function authorOfIcons(folder: string): Promise<string | undefined> {
  if (!folder.includes('@iconify-json')) return undefined;
  const info: unknown = JSON.parse(await readFile(join(folder, 'info.json'), 'utf8'));
  return z.object({ author: z.object({ name: z.string() }) }).parse(info).author.name;
}

/** A field that is text, or an object with the text. */
const textOr = (key: string) =>
  z.union([z.string(), z.looseObject({ [key]: z.string() }).transform((value) => String(value[key]))]).optional();

/** The part of a package.json that a notice needs. A package without a licence is refused. */
const manifestSchema = z.object({
  ...{ name: z.string(), version: z.string(), license: z.string(), homepage: z.string().optional() },
  author: textOr('name'),
  repository: textOr('url'),
});

/** Addresses of the texts of licences that allow to name them so. */
const addresses: Record<string, string> = {
  'CC-BY-4.0': 'https://creativecommons.org/licenses/by/4.0/legalcode',
  'MPL-2.0': 'https://mozilla.org/MPL/2.0/',
};

/** The text of a licence, for a package that names it and has no file of it. Throws for one whose text is unknown. */
function textOf(licence: string, by: string): string {
  if (licence === 'Apache-2.0')
    return `Copyright ${by}\n\nThe text of this licence is in the file LICENSE of this package.`;
  if (Object.hasOwn(addresses, licence)) return `Copyright ${by}\n\nThe text of this licence: ${addresses[licence]}`;
  if (licence === 'ISC') return `Copyright ${by}\n\n${isc}`;
  if (licence === 'MIT') return `Copyright ${by}\n\n${mit}`;
  throw new Error(`A package under ${licence} has no text of it.`);
}

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to
deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or
sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS
IN THE SOFTWARE.`;

const isc = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN
CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`;
