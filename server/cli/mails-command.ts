import { type MailSummary, type MailView, mailRoutes } from '../api/routes/mails.ts';
import { defineCommand, type Found, text, timeout } from './command.ts';
import { awaitNewest, clearCommand, commandOn, platformOptions, queryOf } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { rowLines } from './terminal.ts';

const filters = {
  to: text('--to <ADDRESS>', 'only mails to this address (not case-sensitive)'),
  subject: text('--subject <TEXT>', 'only mails with this text in the subject (not case-sensitive)'),
  since: text('--since <TIME>', 'only mails received at or after this time, such as 2026-01-31T09:30:00Z'),
};

export const mailsCommand = defineCommand({
  name: 'mails',
  description: 'show the mails that the mock mail server received',
  commands: [
    defineCommand({
      name: 'list',
      isDefault: true,
      description: 'list the newest 100 mails, oldest first (the default)',
      options: { ...filters, ...platformOptions },
      async ask(client, { options }) {
        const mails = await client.ask(mailRoutes.listMails, { query: queryOf(options, filters) });
        return { answer: mails, lines: rowLines(mails.map(rowOf)) };
      },
    }),
    commandOn(['<id>', 'ID of the mail, as in the list'], 'show', 'print a mail with its text', readMail),
    clearCommand('delete all mails', (client) => client.ask(mailRoutes.deleteMails)),
    defineCommand({
      name: 'wait',
      description: 'print the newest mail, or wait for the first one; exit code 1 if none came',
      options: { timeout: timeout(30), ...filters, ...platformOptions },
      async ask(client, { options, terminal }) {
        const { to, timeout: timeoutS } = options;
        const list = (query: URLSearchParams) => client.ask(mailRoutes.listMails, { query });
        const missing = `no mail${to === undefined ? '' : ` to ${to}`}`;
        const { id } = await awaitNewest(list, { query: queryOf(options, filters), timeoutS, terminal }, missing);
        return readMail(client, id);
      },
    }),
  ],
});

async function readMail(client: PlatformClient, id: string): Promise<Found> {
  const mail = await client.ask(mailRoutes.readMail, { path: { mail_id: id } });
  return { answer: mail, lines: linesOf(mail) };
}

function rowOf({ id, receivedAt, envelope, subject }: MailSummary): string[] {
  return [id, receivedAt, envelope.to.join(', '), subject || '-'];
}

function linesOf({ receivedAt, envelope, subject, attachments, problem, text: content }: MailView): string[] {
  const attachmentRows = attachments.map(({ name, sizeBytes }) => ['attachment', `${name} (${sizeBytes} bytes)`]);
  const rows = [
    ['received', receivedAt],
    ['from', envelope.from],
    ['to', envelope.to.join(', ')],
    ['subject', subject],
    ...attachmentRows,
    ...(problem === undefined ? [] : [['problem', problem]]),
  ];
  return [...rowLines(rows), '', ...content.split('\n')];
}
