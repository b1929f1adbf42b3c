import { type Declaration, log, port } from '../../plugin/declaration.ts';
import type { Mail } from './mail.ts';

export const smtp = {
  settings: { smtpPort: port(0, 'port of the mock mail server') },
  topics: ['mails'] as const,
  listener: { title: 'SMTP', noun: 'mock mail server', scheme: 'smtp' },
  logs: {
    mails: log<Mail>({
      part: 'mails',
      caps: { maxItems: 10_000, maxBytes: 128 * 1024 * 1024 },
      reset: true,
      archive: async () => (await import('./mail.ts')).parseMail,
    }),
  },
} satisfies Declaration;
