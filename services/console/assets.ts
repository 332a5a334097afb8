import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { chartStyle } from '#shared/timeline/chart-style.ts';
import { packageFile } from '#shared/runtime/installed-packages.ts';

const own = (name: string): URL => new URL(`assets/${name}`, import.meta.url);

const script = 'text/javascript; charset=utf-8';

/** The files that pages load, by name: its place or its text, and its type. */
const files = {
  'console.css': { file: () => own('console.css'), type: 'text/css; charset=utf-8' },
  'console.js': { file: () => own('console.mjs'), type: script },
  'chart.css': { text: chartStyle, type: 'text/css; charset=utf-8' },
  'htmx.js': { file: () => packageFile('htmx.org/dist/htmx.min.js'), type: script },
  'sse.js': { file: () => packageFile('htmx.org/dist/ext/hx-sse.min.js'), type: script },
  'mark.svg': { file: () => own('mark.svg'), type: 'image/svg+xml' },
} as const;

export type AssetName = keyof typeof files;

type Asset = { path: string; type: string; bytes: Buffer; packed: Buffer };

const loaded = new Map<AssetName, Asset>();

function load(name: AssetName): Asset {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const { type, ...asset } = files[name];
  const bytes = 'text' in asset ? Buffer.from(asset.text) : readFileSync(asset.file());
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const made = { path: `/assets/${digest}/${name}`, type, bytes, packed: gzipSync(bytes, { level: 9 }) };
  loaded.set(name, made);
  return made;
}

/** Address of a file, which contains its digest, so that browsers may keep it permanently. */
export const assetPath = (name: AssetName): string => load(name).path;

/** Serves the files from memory. An address with the digest of another version is not found. */
export function addAssetRoutes(app: FastifyInstance): void {
  for (const name of Object.keys(files) as AssetName[]) {
    const { path, type, bytes, packed } = load(name);
    app.get(path, { logLevel: 'silent' }, (request, reply) => {
      const isPacked = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
      void reply
        .header('content-type', type)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('vary', 'Accept-Encoding');
      if (isPacked) void reply.header('content-encoding', 'gzip');
      return reply.send(isPacked ? packed : bytes);
    });
  }
}
