import { z } from 'zod';

/** `warning`: it works, but not as well as it should. `unknown`: it could not be examined, or did not answer in time. */
const doctorCheckSchema = z
  .object({
    name: z.string(),
    state: z.enum(['good', 'warning', 'fault', 'unknown']),
    sentence: z.string(),
    /** Absent if there is nothing to repair. */
    repair: z.string().optional(),
  })
  .meta({ title: 'DoctorCheck' });

export type DoctorCheck = z.infer<typeof doctorCheckSchema>;

/** Answer of `GET /v1/installation/doctor`: what a gateway can examine, and what only the command `bindery doctor` can. */
export const doctorSchema = z
  .object({
    checks: z.array(doctorCheckSchema),
    commandOnly: z.array(z.object({ name: z.string(), sentence: z.string() })),
  })
  .meta({ title: 'Doctor' });

export type Doctor = z.infer<typeof doctorSchema>;
