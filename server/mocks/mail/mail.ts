import { z } from 'zod';
import type { Uuid } from '../../model/record.ts';
import { parseWith } from '../../model/rules/validate.ts';

const text = z.string();
const addresses = z.array(z.strictObject({ name: text, address: text }));

/** A mail that the mock mail server received (D-218). */
const mailSchema = z.strictObject({
  id: z.guid(),
  /** ISO-8601 UTC with milliseconds (D-014). */
  receivedAt: z.iso.datetime(),
  /** The addresses of the commands MAIL FROM and RCPT TO, which the headers need not repeat. */
  envelope: z.strictObject({ from: text, to: z.array(text) }),
  subject: text,
  from: addresses,
  to: addresses,
  cc: addresses,
  text,
  /** With images of the mail in place of links to them. */
  html: text.exactOptional(),
  attachments: z.array(z.strictObject({ name: text, type: text, sizeBytes: z.int() })),
  /** The bytes as they were sent, one character each. */
  source: text,
  /** The reason why only the source is known. */
  problem: text.exactOptional(),
  /** The invocation that sent the mail, if a lambda of this platform sent it. */
  executionId: z.guid().exactOptional(),
  sender: z.strictObject({ lambdaId: z.guid(), lambdaName: text }).exactOptional(),
});
export type Mail = z.output<typeof mailSchema>;

export const MAILS = 'mails';

/** Validates a mail from elsewhere, such as an archive. Throws 400 if it is invalid. */
export function parseMail(value: unknown): Mail {
  return parseWith(mailSchema, value);
}

export interface MailFilter {
  /** A recipient, in any letter case. */
  to?: string | undefined;
  /** Part of the subject, in any letter case. */
  subject?: string | undefined;
  /** Received at or after this time, epoch milliseconds. */
  sinceMs?: number | undefined;
  executionId?: Uuid | undefined;
  /** Part of an id, an address, the subject, the text or the name of an attachment, in any letter case. */
  search?: string | undefined;
}

export function matchesMail(mail: Mail, { to, subject, sinceMs, executionId, search }: MailFilter): boolean {
  return (
    (to === undefined || recipientsOf(mail).some((address) => address.toLowerCase() === to.toLowerCase())) &&
    (subject === undefined || includes(mail.subject, subject)) &&
    (sinceMs === undefined || Date.parse(mail.receivedAt) >= sinceMs) &&
    (executionId === undefined || mail.executionId === executionId) &&
    (search === undefined || searchedTexts(mail).some((searchedText) => includes(searchedText, search)))
  );
}

const includes = (content: string, part: string) => content.toLowerCase().includes(part.toLowerCase());

const recipientsOf = ({ envelope, to, cc }: Mail) => [...envelope.to, ...[...to, ...cc].map(({ address }) => address)];

function searchedTexts(mail: Mail): string[] {
  const names = [...mail.from, ...mail.to, ...mail.cc, ...mail.attachments].map(({ name }) => name);
  const { address = '' } = mail.from[0] ?? {};
  return [
    mail.id,
    mail.executionId ?? '',
    mail.subject,
    mail.envelope.from,
    address,
    ...recipientsOf(mail),
    ...names,
    mail.text,
  ];
}
