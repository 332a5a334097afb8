import type { Properties } from 'hast';
import type { PictureSize } from '#shared/docs/project/picture-size.ts';

/**
 * Reserves the space of a picture before it is loaded, so that the layout does not shift. Sizes that the author set have precedence: if only one side
 * is set, the other follows from the picture's proportions. The style sheet must set `height: auto`.
 */
export function keepRoom(properties: Properties, { width, height, fills }: PictureSize): void {
  const written = sizesOf(properties);
  const [asWidth, asHeight] = [written.width.attribute, written.height.attribute];
  if (asWidth !== undefined && asHeight !== undefined) return;
  if (asWidth !== undefined && asWidth > 0 && !written.height.elsewhere)
    properties.height = atLeastOne((asWidth * height) / width);
  else if (asHeight !== undefined && asHeight > 0 && !written.width.elsewhere)
    properties.width = atLeastOne((asHeight * width) / height);
  else if (fills !== true && isFree(properties.width) && !written.height.any)
    Object.assign(properties, { width, height });
  else {
    const room = written.width.any || written.height.any ? '' : 'width: 100%; ';
    const style = `${room}aspect-ratio: auto ${width} / ${height}`;
    properties.style = typeof properties.style === 'string' ? `${style}; ${properties.style}` : style;
  }
}

const isFree = (attribute: unknown): boolean => attribute === undefined || attribute === null;

type Side = {
  /** Size in whole pixels from the attribute. */
  attribute?: number;
  /** True if a style or class sets the size or a limit of it, which the other side follows. */
  elsewhere: boolean;
  any: boolean;
};

function sizesOf({ width, height, style, className }: Properties): Record<'width' | 'height', Side> {
  const styles = typeof style === 'string' ? style : '';
  const classes = Array.isArray(className) ? className.map(String) : [];
  const sideOf = (name: 'width' | 'height', value: unknown): Side => {
    const pixels =
      (typeof value === 'number' || typeof value === 'string') && /^\d+(px)?$/.test(`${value}`)
        ? Number.parseInt(`${value}`, 10)
        : undefined;
    const elsewhere =
      new RegExp(`(^|[;\\s-])${name}\\s*:`, 'i').test(styles) ||
      classes.some((one) => new RegExp(`(^|:|-)!?(${name[0]}|size)-`).test(one)) ||
      (!isFree(value) && pixels === undefined);
    return { ...(pixels !== undefined && { attribute: pixels }), elsewhere, any: elsewhere || pixels !== undefined };
  };
  return { width: sideOf('width', width), height: sideOf('height', height) };
}

const atLeastOne = (pixels: number): number => Math.max(1, Math.round(pixels));
