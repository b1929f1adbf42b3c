import { type LeadView, leadRoutes } from '../api/routes/leads.ts';
import { defineCommand, text, timeout } from './command.ts';
import { ExitWith, NO } from './exit-with.ts';
import { platformOptions, queryOf } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { rowLines, type Terminal } from './terminal.ts';

/** Time that one request waits; the server's maximum. */
const WAIT_S = 60;

const filters = {
  email: text('--email <ADDRESS>', 'only leads with this email address (not case-sensitive)'),
  since: text('--since <TIME>', 'only leads received at or after this time, such as 2026-01-31T09:30:00Z'),
};

export const leadsCommand = defineCommand({
  name: 'leads',
  description: 'show the leads that the mock CRM received',
  commands: [
    defineCommand({
      name: 'list',
      isDefault: true,
      description: 'list leads, oldest first (the default)',
      options: { ...filters, ...platformOptions },
      async ask(client, { options }) {
        const found = await client.ask(leadRoutes.listLeads, { query: queryOf(options, filters) });
        return { answer: found, lines: rowLines(found.map(rowOf)) };
      },
    }),
    defineCommand({
      name: 'clear',
      description: 'delete all leads',
      options: platformOptions,
      async ask(client) {
        const answer = await client.ask(leadRoutes.deleteLeads);
        return { answer, lines: [`${answer.deleted} deleted`] };
      },
    }),
    defineCommand({
      name: 'wait',
      description: 'print the newest lead, or wait for the first one; exit code 1 if none came',
      options: { timeout: timeout(30), ...filters, ...platformOptions },
      async ask(client, { options, terminal }) {
        const { email, timeout: timeoutS } = options;
        const lead = (await awaitLeads(client, queryOf(options, filters), timeoutS, terminal)).at(-1);
        if (lead) return { answer: lead, lines: rowLines([rowOf(lead)]) };
        throw new ExitWith(NO, `no lead${email === undefined ? '' : ` of ${email}`} came within ${timeoutS} s`);
      },
    }),
  ],
});

async function awaitLeads(
  client: PlatformClient,
  query: URLSearchParams,
  timeoutS: number,
  terminal: Pick<Terminal, 'nowMs'>,
): Promise<LeadView[]> {
  const untilMs = terminal.nowMs() + timeoutS * 1000;
  for (;;) {
    const leftS = Math.max(0, Math.ceil((untilMs - terminal.nowMs()) / 1000));
    query.set('waitS', String(Math.min(leftS, WAIT_S)));
    const found = await client.ask(leadRoutes.listLeads, { query });
    if (found.length > 0 || leftS === 0) return found;
  }
}

function rowOf({ receivedAt, mapped }: LeadView): string[] {
  const { email = '-', firstName = '', lastName = '', company = '-' } = mapped;
  return [receivedAt, email, `${firstName} ${lastName}`.trim() || '-', company];
}
