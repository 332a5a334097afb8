import { z } from 'zod';

/** The slug of a domain or one of its host names, as callers write it. What it may be, says the organization's directory. */
export const domainName = z
  .string()
  .min(1)
  .max(253)
  .transform((name) => name.toLowerCase());
