import { z } from 'zod';

const known = new WeakMap<z.core.$ZodType, z.core.$ZodType>();

/**
 * Returns the same schema, except that validation of a list stops at its first wrong entry. Zod describes every wrong field of every entry: 300,000
 * empty objects in place of pages are a message of a megabyte, and would block their reader for minutes and take gigabytes.
 */
export function stopsEarly<T>(schema: z.ZodType<T>): z.ZodType<T> {
  return stopping(schema) as z.ZodType<T>;
}

function stopping(schema: z.core.$ZodType): z.core.$ZodType {
  const made = known.get(schema) ?? changed(schema as z.core.$ZodTypes);
  known.set(schema, made);
  return made;
}

/** Schemas are changed when they are first used, because they may contain themselves. */
function changed(schema: z.core.$ZodTypes): z.core.$ZodType {
  const { def } = schema._zod;
  switch (def.type) {
    case 'array':
      return stoppingList(schema as z.core.$ZodArray);
    case 'object': {
      const shape = {};
      for (const [name, field] of Object.entries(Object.getOwnPropertyDescriptors(def.shape))) {
        const get = (): z.core.$ZodType => stopping(def.shape[name] as z.core.$ZodType);
        Object.defineProperty(shape, name, { get, enumerable: field.enumerable ?? true, configurable: true });
      }
      return z.core.clone(schema, { ...def, shape });
    }
    case 'union':
      return z.core.clone(schema, { ...def, options: def.options.map(stopping) });
    case 'record':
      return z.core.clone(schema, { ...def, valueType: stopping(def.valueType) });
    case 'optional':
    case 'nullable':
    case 'default':
    case 'catch':
      return z.core.clone(schema, { ...def, innerType: stopping(def.innerType) });
    default:
      return schema;
  }
}

function stoppingList(schema: z.core.$ZodArray): z.core.$ZodType {
  const { def } = schema._zod;
  // The checks of the list itself, such as its length, come first.
  const list = z.core.clone(schema, { ...def, element: z.unknown() }) as unknown as z.ZodArray<z.ZodUnknown>;
  return list.transform((entries, context) => {
    const entry = stopping(def.element);
    const parsed: unknown[] = [];
    for (const [at, value] of entries.entries()) {
      const result = z.core.safeParse(entry, value);
      if (!result.success) {
        const [issue] = result.error.issues;
        const path = [at, ...(issue?.path ?? [])];
        context.issues.push({ code: 'custom', message: issue?.message ?? '', path, input: value });
        return z.NEVER;
      }
      parsed.push(result.data);
    }
    return parsed;
  });
}
