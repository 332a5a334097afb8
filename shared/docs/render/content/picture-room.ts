import type { Properties } from 'hast';
import type { PictureSize } from '#shared/docs/project/picture-size.ts';

/**
 * Has a picture take its room before it is loaded, so that nothing moves then. What the author said about its size wins: one side alone gets
 * the other by the picture's proportions. Its style sheet must have `height: auto`.
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
  /** In whole pixels. */
  attribute?: number;
  /** In a style or by a class; also a bound, because the other side follows it. */
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
