import type { z } from 'zod';
import { html, type SafeHtml } from '#shared/docs/render/html.ts';
import { type DoctorCheck, doctorSchema } from '#shared/interfaces/http/doctor.ts';
import { page } from '../page.ts';
import { partOf } from '../pieces/part.ts';
import { command, pageHead, plural, state, table, type Tone } from '../pieces/pieces.ts';

const tones: Readonly<Record<DoctorCheck['state'], Tone>> = {
  good: 'good',
  warning: 'warn',
  fault: 'bad',
  unknown: 'idle',
};

/** The findings of a gateway about its installation, for operators. */
export const doctorPage = page({ path: '/installation/doctor', of: 'installation' }, async ({ ask }) => {
  const examined = await partOf(ask({ path: '/v1/installation/doctor' }, doctorSchema), findings);
  const content = html`${pageHead('Doctor', '', html`<a class="button" href="/installation/doctor">Examine again</a>`)}
${examined}
${command('npm run bindery -- doctor')}`;
  return { title: 'Doctor', content };
});

function findings({ checks, commandOnly }: z.output<typeof doctorSchema>): SafeHtml {
  const count = (wanted: DoctorCheck['state']) => checks.filter((each) => each.state === wanted).length;
  const [faults, warnings, unknown] = [count('fault'), count('warning'), count('unknown')];
  const outcome =
    faults + warnings + unknown === 0
      ? 'All checks are good.'
      : `${plural(faults, 'fault')}, ${plural(warnings, 'warning')}, ${unknown} not known.`;
  return html`<p class="about">${outcome}</p>
${table(
  'Checks',
  [
    { title: 'Check', cell: ({ name }) => name },
    { title: 'State', cell: (each) => state(tones[each.state], each.state) },
    {
      title: 'Finding',
      cell: ({ sentence, repair }) =>
        html`<div class="finding">${sentence}${repair === undefined ? '' : html`<div class="quiet">${repair}</div>`}</div>`,
    },
  ],
  checks,
)}
<h2>What only the command examines</h2>
<p class="about">It needs the settings and disks of the machines. Run it where the services run.</p>
<dl class="facts">${commandOnly.map(({ name, sentence }) => html`<dt>${name}</dt><dd>${sentence}</dd>`)}</dl>`;
}
