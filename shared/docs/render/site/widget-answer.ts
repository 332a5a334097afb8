import { widgetFile } from './widget-file.ts';

/** The answer to a request for `widget.js`. The body is empty for 304. */
export type WidgetAnswer = { status: 200 | 304; headers: Record<string, string>; body: Buffer };

const accepts = (header: string, encoding: string): boolean =>
  new RegExp(`(^|[,\\s])${encoding}\\s*(;\\s*q=(?!0(\\.0*)?\\s*(,|$))|,|$)`).test(header);

/**
 * Answers with `widget.js`. Pages of all sites may load it, also with the attributes `crossorigin` and `integrity`. `digest`: the one in the address;
 * undefined for the address of the newest bytes. Undefined if this version of Bindery has other bytes. `base`: path in front of the addresses.
 */
export async function widgetAnswer(
  asked: { acceptEncoding?: string | undefined; ifNoneMatch?: string | undefined },
  digest: string | undefined,
  base = '',
): Promise<WidgetAnswer | undefined> {
  const file = await widgetFile();
  if (digest !== undefined && digest !== file.digest) return undefined;
  const encoding = (['br', 'gzip'] as const).find((name) => accepts(asked.acceptEncoding ?? '', name));
  const etag = `"${file.digest}${encoding === undefined ? '' : `-${encoding}`}"`;
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control':
      digest === undefined
        ? 'public, max-age=300, stale-while-revalidate=86400'
        : 'public, max-age=31536000, immutable',
    etag,
    vary: 'Accept-Encoding',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'content-location, x-widget-integrity',
    'cross-origin-resource-policy': 'cross-origin',
    'content-location': `${base}/_bindery/@${file.digest}/widget.js`,
    'x-widget-integrity': file.integrity,
  };
  // A proxy may have changed the encoding, so the digest alone counts.
  if (asked.ifNoneMatch?.includes(file.digest) === true) return { status: 304, headers, body: Buffer.alloc(0) };
  const body = encoding === undefined ? file.text : file[encoding];
  return { status: 200, headers: { ...headers, ...(encoding && { 'content-encoding': encoding }) }, body };
}
