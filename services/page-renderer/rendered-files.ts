import type { RenderedFile } from '#shared/render/rendered-file.ts';
import type { RenderResponse } from '#shared/render/render-request.ts';

/** The files of an answer that is nothing but files. Throws otherwise. */
export function renderedFiles(response: RenderResponse): RenderedFile[] {
  if (response.kind !== 'files') throw new Error(`a child answered with "${response.kind}" instead of files`);
  return response.files;
}
