import { type Declaration, log, port } from '../../plugin/declaration.ts';
import type { Lead, RefusedForm } from './lead.ts';

/** Limits for leads and for rejected forms. */
const caps = { maxItems: 10_000, maxBytes: 64 * 1024 * 1024 };

export const crm = {
  settings: { crmPort: port(0, 'port of the mock CRM') },
  topics: ['leads'] as const,
  listener: { title: 'CRM', noun: 'mock CRM', scheme: 'https' },
  logs: {
    leads: log<Lead>({
      part: 'leads',
      caps,
      reset: true,
      archive: async () => (await import('./lead.ts')).parseLead,
    }),
    'refused-forms': log<RefusedForm>({ part: 'leads', caps, reset: true }),
  },
} satisfies Declaration;
