import { type LeadView, leadRoutes } from '../api/routes/leads.ts';
import { defineCommand, text, timeout } from './command.ts';
import { awaitNewest, clearCommand, platformOptions, queryOf } from './instance-options.ts';
import { rowLines } from './terminal.ts';

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
    clearCommand('delete all leads', (client) => client.ask(leadRoutes.deleteLeads)),
    defineCommand({
      name: 'wait',
      description: 'print the newest lead, or wait for the first one; exit code 1 if none came',
      options: { timeout: timeout(30), ...filters, ...platformOptions },
      async ask(client, { options, terminal }) {
        const { email, timeout: timeoutS } = options;
        const list = (query: URLSearchParams) => client.ask(leadRoutes.listLeads, { query });
        const missing = `no lead${email === undefined ? '' : ` of ${email}`}`;
        const lead = await awaitNewest(list, { query: queryOf(options, filters), timeoutS, terminal }, missing);
        return { answer: lead, lines: rowLines([rowOf(lead)]) };
      },
    }),
  ],
});

function rowOf({ receivedAt, mapped }: LeadView): string[] {
  const { email = '-', firstName = '', lastName = '', company = '-' } = mapped;
  return [receivedAt, email, `${firstName} ${lastName}`.trim() || '-', company];
}
