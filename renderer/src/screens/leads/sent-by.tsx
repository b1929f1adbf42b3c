import { PlaceLink } from '../../shell/place-link.tsx';
import type { Lead } from './use-leads.ts';

/** The lambda and the invocation that sent a lead or a mail. */
export function SentBy({ sender, executionId }: Pick<Lead, 'sender' | 'executionId'>) {
  return (
    <p className="text-muted">
      {sender ? (
        <>
          Sent by <PlaceLink to={{ screen: 'lambdas', id: sender.lambdaId }}>{sender.lambdaName}</PlaceLink>
        </>
      ) : (
        'The sender is not a lambda of this platform'
      )}
      {executionId && (
        <>
          {' '}
          in <PlaceLink to={{ screen: 'invocations', search: { sel: executionId } }}>this invocation</PlaceLink>
        </>
      )}
    </p>
  );
}
