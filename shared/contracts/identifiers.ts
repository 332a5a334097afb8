import { z } from 'zod';

/** Ids and names that are parts of subjects, keys and paths. The patterns make them safe in all three. */
export const organizationId = z.string().regex(/^[a-z0-9_-]{1,63}$/, 'must be 1 to 63 of a-z, 0-9, _ and -');
export const domainSlug = z.string().regex(/^[a-z0-9-]{1,63}$/, 'must be 1 to 63 of a-z, 0-9 and -');
export const hostName = z
  .string()
  .max(253)
  .regex(/^(?=.*\.)[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, 'must be a host name such as docs.acme.com, in lower case');
export const jobId = z
  .string()
  .regex(/^se_[0-9A-Za-z]{22}$/, 'must be the id of an export job: se_ and 22 letters or digits');
export const threadId = z
  .string()
  .regex(/^th_[0-9A-Za-z]{22}$/, 'must be the id of a thread: th_ and 22 letters or digits');
export const contentVersion = z.string().regex(/^cv_[0-9a-f]{32}$/, 'must be a content version: cv_ and 32 hex digits');
export const rendererVersion = z.string().regex(/^r-[0-9a-f]{12}$/);
export const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);
export const contentLabel = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/, 'must be 1 to 100 letters, digits, dots, dashes, pluses or underscores');
/** Names a content version. It is an object, because three strings are easily passed in the wrong order. */
export type ContentId = { organization: string; domain: string; contentVersion: string };

export const timestamp = z.iso.datetime({ precision: 3 });

/**
 * The plan that an organization has bought. Static export needs `enterprise`. The code always says "organization plan", because an export
 * has a plan, too.
 */
export const organizationPlans = ['free', 'pro', 'enterprise'] as const;

export type OrganizationPlan = (typeof organizationPlans)[number];

/** The slug of a domain or one of its host names, as callers write it. The organization's directory decides which ones are valid. */
export const domainName = z
  .string()
  .min(1)
  .max(253)
  .transform((name) => name.toLowerCase());
