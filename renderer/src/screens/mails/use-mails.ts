import { send } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { useChange } from '../../api/use-change.ts';
import { useRead } from '../../api/use-read.ts';

export type { MailSummary, MailView } from '../../../../server/api/routes/mails.ts';

/** Number of mails in the list; the server's maximum. */
export const MAX_MAILS = 1_000;

/** Caught mails, the newest last. @param search part of an address, the subject or the text */
export function useMails(search?: string) {
  return useRead(keys.mails, '/inspect/mails', { search, limit: MAX_MAILS }, { keepsLast: true });
}

export function useDeleteMails(onShown: () => void) {
  return useChange(() => send('DELETE', '/inspect/mails'), {
    message: 'The inbox is empty.',
    topic: keys.mails,
    onShown,
  });
}
