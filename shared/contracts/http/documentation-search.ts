import { z } from 'zod';
import { searchFilterSchema } from './assistant-message.ts';

/** Body of `POST /discovery/v1/search/{domain}`. */
export const searchBodySchema = z.object({
  query: z.string().trim().min(1).max(1000),
  pageSize: z.int().min(1).max(50).default(10),
  scoreThreshold: z.number().min(0).max(1).optional(),
  filter: searchFilterSchema.nullish(),
});

export const searchAnswerSchema = z.array(
  z.object({ content: z.string(), path: z.string(), metadata: z.record(z.string(), z.json()) }),
);

/** Body of `POST /discovery/v1/page/{domain}`. */
export const pageBodySchema = z.object({
  path: z.string().min(1).max(1024),
  groups: z.array(z.string().max(100)).max(100).default([]),
});

export const pageAnswerSchema = z.object({ path: z.string(), content: z.string() });
