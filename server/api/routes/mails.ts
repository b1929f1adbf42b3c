import { z } from 'zod';
import { id, named, object, time } from '../schemas/parts.ts';
import { waitS } from './logs.ts';
import { countOr, moment, text, uuid } from './parameter.ts';
import { defineRoutes, ok, route, stream } from './route.ts';

const addresses = z.array(z.object({ name: z.string(), address: z.string() }));

const mailSummary = z.object({
  id,
  receivedAt: time,
  envelope: z
    .object({ from: z.string(), to: z.array(z.string()) })
    .describe('The addresses of MAIL FROM and RCPT TO, hidden copies included'),
  subject: z.string(),
  from: addresses,
  to: addresses,
  cc: addresses,
  excerpt: z.string().describe('The start of the text'),
  attachments: z.array(z.object({ name: z.string(), type: z.string(), sizeBytes: z.int() })),
  sizeBytes: z.int().describe('Size of the source'),
  problem: z.string().optional().describe('The reason why only the source of the mail is known'),
  executionId: id.optional().describe('The invocation that sent the mail, if a lambda of this platform sent it'),
  sender: z.object({ lambdaId: id, lambdaName: z.string() }).optional(),
});
export type MailSummary = z.output<typeof mailSummary>;

const mail = object('Mail', {
  ...mailSummary.shape,
  text: z.string(),
  html: z.string().optional().describe('HTML with the images of the mail, otherwise as it was sent: do not trust it'),
});
export type MailView = z.output<typeof mail>;

/** Mails that the mock mail server received (D-218). */
export const mailRoutes = defineRoutes('Captured mails', {
  listMails: route('get /inspect/mails', 'caller', {
    summary: 'List captured mails, oldest first',
    description:
      'Mails from lambdas are listed if you can view the lambda. Other mails require permission to view the entire platform.',
    query: {
      to: text('Only mails to this address (To, Cc or envelope), in any letter case'),
      subject: text('Only mails with this text in the subject, in any letter case'),
      since: moment('Only mails at or after this time'),
      execution: uuid('Only mails that this invocation sent'),
      search: text('Only mails with this text in an address, the subject, the text or the name of an attachment'),
      limit: countOr(100, 'Maximum number of mails: the newest ones', 1, 1_000),
      before: uuid('ID of a mail: only older ones'),
      waitS,
    },
    isStrict: true,
    answer: ok(z.array(named('MailSummary', mailSummary))),
    errors: [503],
  }),
  readMail: route('get /inspect/mails/{mail_id}', 'caller', {
    summary: 'Read a captured mail',
    answer: ok(mail),
  }),
  readMailSource: route('get /inspect/mails/{mail_id}/source', 'caller', {
    summary: 'Download the source of a captured mail',
    answer: stream(z.string(), 'message/rfc822'),
  }),
  readMailAttachment: route('get /inspect/mails/{mail_id}/attachments/{attachment_number}', 'caller', {
    summary: 'Download an attachment of a captured mail',
    answer: stream(z.string(), 'application/octet-stream'),
  }),
  deleteMails: route('delete /inspect/mails', 'root', {
    summary: 'Delete all captured mails',
    answer: ok(object('DeletedMails', { deleted: z.int().describe('Number of deleted mails') })),
  }),
});
