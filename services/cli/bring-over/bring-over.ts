import { posix } from 'node:path';
import { portableName } from '#shared/export/bundle/archive-names.ts';
import { bundlePathProblem } from '#shared/export/bundle/bundle-names.ts';
import { convertPage } from './convert-page.ts';
import { docusaurusPlan } from './docusaurus.ts';
import { mkdocsPlan } from './mkdocs.ts';
import { redirectsFileOf } from './redirects-file.ts';
import type { Plan } from './plan.ts';
import { docsJsonOf } from './site-outline.ts';
import { type Left, NotSuchAProject, sourceProject, type SourceProject } from './source-project.ts';
import { starlightPlan } from './starlight.ts';
import { vitepressPlan } from './vitepress.ts';

const plans = { docusaurus: docusaurusPlan, starlight: starlightPlan, vitepress: vitepressPlan, mkdocs: mkdocsPlan };

export type SourceFormat = keyof typeof plans;

export const sourceFormats = Object.keys(plans) as SourceFormat[];

export type BroughtProject = {
  /** Files of the new project by path. */
  files: Map<string, string | Uint8Array>;
  pages: number;
  left: Left[];
};

/** Files that a docs project may have beside its pages. */
const copied = /\.(png|jpe?g|gif|svg|webp|avif|ico|bmp|mp4|webm|mp3|pdf|zip|json|ya?ml|txt|csv|woff2?)$/i;

/**
 * Reads the project of another generator in `folder` and returns it as a docs project, without changing anything. Rejects with `NotSuchAProject` if the
 * folder has none.
 */
export async function bringOver(format: SourceFormat, folder: string): Promise<BroughtProject> {
  const project = await sourceProject(folder);
  const left: Left[] = [];
  const found = await plans[format](project, left);
  const plan = { ...found, pages: usablePages(found, left) };
  if (plan.pages.size === 0) throw new NotSuchAProject(`${folder} has no pages where ${format} has them.`);
  const files = new Map<string, string | Uint8Array>();
  const places = new Map<string, string>();
  for (const path of project.paths) {
    const place = placeOf(path, plan);
    if (place === undefined || plan.pages.has(path) || plan.partials?.has(path)) continue;
    if (copied.test(path)) places.set(path, place);
    else if (/\.(css|m?js|jsx|tsx?|vue|astro|html)$/.test(path) && !path.includes('/.'))
      left.push({ file: path, line: 1, what: 'Styles and programs of the old site are not brought over' });
  }
  const links = linksOf(project, plan, places);
  const { outline } = plan;
  const write = async (source: string, path: string): Promise<void> => {
    const say = (line: number, what: string): void => void left.push({ file: source, line, what });
    const target = (given: string, at: number): string => {
      const found = links(source, given);
      if (found === undefined) say(at, `The link to "${given}" leads to nothing that was brought over`);
      return found ?? given;
    };
    const wholeLine = plan.wholeLine?.(source, { left: say, target });
    const text = convertPage(await project.text(source), {
      isMdx: plan.isMdx(source),
      blocks: plan.blocks,
      showsTitle: plan.showsTitle,
      rules: plan.rules(source, { left: say, target }),
      ...(wholeLine !== undefined && { wholeLine }),
      target,
      frontmatter: plan.frontmatter,
      ...(plan.preface !== undefined && { preface: plan.preface }),
      left: say,
    });
    files.set(path, text);
  };
  for (const [source, path] of plan.pages) await write(source, `${path}.mdx`);
  for (const [source, path] of plan.partials ?? []) await write(source, path);
  for (const [path, place] of places) files.set(place, await project.bytes(path));
  const redirects = [...outline.redirects, ...(await redirectsFileOf(project, plan.folders, left))];
  const missing = new Set(
    [outline.logo, outline.favicon].filter((each) => each !== undefined && !files.has(each.slice(1))),
  );
  const known = redirects.map(({ source, destination }) => ({
    source,
    destination: links('', destination) ?? destination,
  }));
  const docs = docsJsonOf(
    {
      ...outline,
      logo: missing.has(outline.logo) ? undefined : outline.logo,
      favicon: missing.has(outline.favicon) ? undefined : outline.favicon,
      redirects: [...new Map(known.map((each) => [each.source, each])).values()].filter(
        ({ source, destination }) => source !== destination && !files.has(`${source.slice(1)}.mdx`),
      ),
    },
    (source) => plan.pages.get(source),
  );
  files.set('docs.json', `${JSON.stringify(docs, undefined, 2)}\n`);
  left.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
  return { files, pages: plan.pages.size, left };
}

/**
 * The paths of pages that a docs project can have. An address that a page gives itself may have dots that lead out of the new project; such a page has
 * the address of its file. The first of several pages with one address is brought over.
 */
function usablePages(plan: Plan, left: Left[]): Map<string, string> {
  const pages = new Map<string, string>();
  const taken = new Map<string, string>();
  for (const [source, wanted] of plan.pages) {
    const own = () => (placeOf(source, plan) ?? source).replace(/\.mdx?$/, '');
    const problem = bundlePathProblem(`${wanted}.mdx`);
    const path = problem === undefined ? wanted : own();
    if (problem !== undefined) {
      const what = `The address "${wanted.slice(0, 200)}" ${problem}, so the page has that of its file`;
      left.push({ file: source, line: 1, what });
    }
    const other = taken.get(portableName(path));
    if (other === undefined) {
      taken.set(portableName(path), source);
      pages.set(source, path);
    } else
      left.push({ file: source, line: 1, what: `The page has the address of ${other}, so it is not brought over` });
  }
  return pages;
}

function placeOf(path: string, { folders }: Plan): string | undefined {
  const folder = folders.find(({ from }) => from === '' || path.startsWith(`${from}/`));
  if (folder === undefined || /(^|\/)[._]/.test(path.slice(folder.from.length))) return undefined;
  const below = folder.from === '' ? path : path.slice(folder.from.length + 1);
  return folder.to === '' ? below : `${folder.to}/${below}`;
}

/** Returns the new target of a link in a file; undefined if it leads to nothing. A target elsewhere stays as it is. */
function linksOf(project: SourceProject, plan: Plan, places: ReadonlyMap<string, string>) {
  const { pages, bases } = plan;
  const addresses = new Map<string, string>();
  for (const path of pages.values()) {
    addresses.set(path, path);
    if (path === 'index' || path.endsWith('/index'))
      addresses.set(path.slice(0, -'/index'.length).replace(/^inde$/, ''), path);
  }
  const files = new Map([...places].map(([, place]) => [place, place]));
  const fileNamed = (path: string): string | undefined => {
    for (const ending of ['', '.md', '.mdx', '/index.md', '/index.mdx', '/README.md']) {
      const page = pages.get(`${path}${ending}`);
      if (page !== undefined) return page;
    }
    return places.get(path);
  };
  const addressed = (path: string): string | undefined => {
    const clean = path.replace(/\.(html|mdx?)$/, '').replace(/^\/+|\/+$/g, '');
    return addresses.get(clean) ?? addresses.get(`${clean}/index`) ?? files.get(path.replace(/^\/+/, ''));
  };
  return (source: string, given: string): string | undefined => {
    if (given === '' || /^(#|[a-z][a-z\d+.-]*:|\/\/|\ue000|\{)/i.test(given)) return given;
    const [, path = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(given) ?? [];
    const decoded = decodedPath(path);
    const folder = posix.dirname(source);
    const found = decoded.startsWith('/')
      ? [
          ...bases
            .filter((base) => decoded === base || decoded.startsWith(`${base}/`))
            .map((base) => decoded.slice(base.length)),
          decoded,
        ]
          .map(
            (each) =>
              addressed(each) ?? plan.folders.map(({ from }) => fileNamed(posix.join(from, each))).find(Boolean),
          )
          .find((each) => each !== undefined)
      : (fileNamed(posix.join(folder, decoded).replace(/\/$/, '')) ??
        addressed(posix.join(posix.dirname(pages.get(source) ?? ''), decoded)) ??
        addressed(posix.join(pages.get(source) ?? '', decoded)) ??
        (project.has(posix.join(folder, decoded)) ? places.get(posix.join(folder, decoded)) : undefined));
    return found === undefined ? undefined : `/${found === 'index' ? '' : found}${rest}`;
  };
}

function decodedPath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
