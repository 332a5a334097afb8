import { readFile } from 'node:fs/promises';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { packageFile } from '../package-file.ts';

let loaded: Promise<void> | undefined;

/**
 * A drawing of paths as PNG. WebAssembly computes the same on every machine. It is loaded once in a process, when the first card needs it.
 */
export async function drawCard(svg: string): Promise<Uint8Array> {
  loaded ??= readFile(packageFile('@resvg/resvg-wasm/index_bg.wasm')).then(initWasm);
  await loaded;
  const drawing = new Resvg(svg, { font: { loadSystemFonts: false } });
  const picture = drawing.render();
  try {
    return picture.asPng();
  } finally {
    // Its memory is not the collector's.
    picture.free();
    drawing.free();
  }
}
