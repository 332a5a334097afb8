import { readFile } from 'node:fs/promises';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import { packageFile } from '../package-file.ts';

let loaded: Promise<void> | undefined;

/** Draws an SVG of paths as PNG. WebAssembly gives the same bytes on every machine. It is loaded once per process, when the first card needs it. */
export async function drawCard(svg: string): Promise<Uint8Array> {
  loaded ??= readFile(packageFile('@resvg/resvg-wasm/index_bg.wasm')).then(initWasm);
  await loaded;
  const drawing = new Resvg(svg, { font: { loadSystemFonts: false } });
  const picture = drawing.render();
  try {
    return picture.asPng();
  } finally {
    // The garbage collector does not free WebAssembly memory.
    picture.free();
    drawing.free();
  }
}
