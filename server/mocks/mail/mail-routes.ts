import type { Response, Router } from 'express';
import { type MailSummary, mailRoutes } from '../../api/routes/mails.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { Notifier } from '../../api/server/notifier.ts';
import { visibilityFor } from '../../api/server/visibility.ts';
import type { Caller } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import { parseUuid } from '../../model/record.ts';
import { MAILS, type Mail } from './mail.ts';
import type { MockMail } from './mock-mail.ts';

const EXCERPT_CHARACTERS = 200;
/** A browser saves what the sender of a mail chose, and neither shows nor runs it on the platform's origin. */
const DOWNLOAD_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Cache-Control': 'no-store',
};

export function mailRouter(mock: MockMail, notifier: Notifier, guard: RouteGuard): Router {
  const mailOf = (caller: Caller, text: string): Mail => {
    const id = parseUuid(text);
    const mail = mock.find(id);
    // A mail of a hidden lambda does not exist for the caller.
    if (mail && visibilityFor(guard, caller).sees(mail.sender?.lambdaId)) return mail;
    throw new PlatformError('not_found', `mail ${id} not found`);
  };
  return mountRoutes(mailRoutes, guard, {
    listMails({ caller, query, requireAccess, res }) {
      const { waitS, limit, before, since: sinceMs, execution: executionId, ...filter } = query;
      // Checked each time, because permissions can change during the wait.
      const find = () => {
        const { sees } = visibilityFor(guard, caller);
        const mails = mock.list({ ...filter, sinceMs, executionId });
        const end = before === undefined ? -1 : mails.findIndex(({ id }) => id === before);
        const visibleMails = mails.slice(0, end < 0 ? undefined : end).filter(({ sender }) => sees(sender?.lambdaId));
        return visibleMails.slice(-limit).map(summaryOf);
      };
      return notifier.waitFor(find, (found) => found.length > 0, { topic: MAILS, waitS, requireAccess, res });
    },
    readMail({ caller, path }) {
      const { text, html, ...mail } = mailOf(caller, path.mail_id);
      return { ...summaryOf({ ...mail, text }), text, ...(html !== undefined && { html }) };
    },
    readMailSource({ caller, path, res }) {
      const { id, source } = mailOf(caller, path.mail_id);
      download(res, { name: `${id}.eml`, type: 'message/rfc822', content: sourceBytes(source) });
    },
    async readMailAttachment({ caller, path, res }) {
      const { source, attachments } = mailOf(caller, path.mail_id);
      const index = /^\d{1,4}$/.test(path.attachment_number) ? Number(path.attachment_number) : -1;
      const attachment = attachments[index];
      const { attachmentIn } = await import('./parse-source.ts');
      const content = attachment && (await attachmentIn(sourceBytes(source), index));
      if (content) return download(res, { name: attachment.name, type: 'application/octet-stream', content });
      const count = attachments.length === 1 ? 'one attachment' : `${attachments.length} attachments`;
      throw new PlatformError(
        'not_found',
        `attachment '${path.attachment_number.slice(0, 16)}' not found: the mail has ${count}, counted from 0`,
      );
    },
    deleteMails: async () => ({ deleted: await mock.clear() }),
  });
}

const sourceBytes = (source: string) => Buffer.from(source, 'latin1');

function summaryOf({ text, html: _, source, ...mail }: Mail): MailSummary {
  return { ...mail, excerpt: text.slice(0, EXCERPT_CHARACTERS), sizeBytes: source.length };
}

function download(res: Response, { name, type, content }: { name: string; type: string; content: Buffer }): void {
  res.set(DOWNLOAD_HEADERS).attachment(name).set('Content-Type', type).end(content);
}
