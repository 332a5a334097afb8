import { z } from 'zod';

const serviceHealthSchema = z
  .object({
    service: z.string(),
    state: z.enum(['ready', 'degraded', 'unready', 'unreachable']),
    version: z.string().optional(),
    problems: z.array(z.object({ part: z.string(), reason: z.string() })),
  })
  .meta({ title: 'ServiceHealth' });

export type ServiceHealth = z.infer<typeof serviceHealthSchema>;

/** Answer of `GET /v1/installation/services`: the gateway that answers, and the services that it calls. */
export const serviceListSchema = z
  .object({ gateways: z.int(), services: z.array(serviceHealthSchema) })
  .meta({ title: 'ServiceList' });
