import { CircleX, Lock, type LucideIcon, PlugZap, SearchX, Sprout } from 'lucide-react';
import type { ReactNode } from 'react';
import { type Failure, failureOf } from '../api/failure.ts';
import { missingText, type Need, useMissing } from '../api/permissions.tsx';
import { hrefOf } from '../url.ts';
import { Button } from './button.tsx';

export interface EmptyStateProps {
  title: string;
  text: ReactNode;
  icon?: LucideIcon;
  /** The permission that the user needs to see the content. Without it, the list is not known to be empty. */
  needs?: Need;
  children?: ReactNode;
}

/**
 * A replacement for content that the user may not see. It names the missing permission and who can grant it, and is
 * never shown as empty.
 */
export function Withheld({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <EmptyState icon={Lock} title="You need a permission" text={text}>
      {children}
    </EmptyState>
  );
}

/** An empty list: the reason, and what to do next. */
export function EmptyState({ title, text, icon: Icon = Sprout, needs, children }: EmptyStateProps) {
  const missing = useMissing(needs);
  if (missing !== undefined) return <Withheld text={missing} />;
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-14 text-center">
      <Icon aria-hidden size={26} strokeWidth={1.5} className="text-faint" />
      <h2>{title}</h2>
      <div className="text-muted">{text}</div>
      {children && <div className="mt-2 flex flex-wrap justify-center gap-2">{children}</div>}
    </div>
  );
}

/** Nothing fits the query or filter. */
export function NoMatch({ subject, onClear }: { subject: string; onClear(): void }) {
  return (
    <EmptyState icon={SearchX} title={`No ${subject} match`} text="Nothing matches your query or filter.">
      <Button onPress={onClear}>Clear the query</Button>
    </EmptyState>
  );
}

/** A failure with the server's message and a button to try again. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const failure = failureOf(error);
  return (
    <div role="alert">
      <EmptyState
        icon={failure.kind === 'offline' ? PlugZap : failure.code === 403 ? Lock : CircleX}
        title={
          failure.kind === 'offline'
            ? 'The server does not respond'
            : failure.code === 403
              ? 'You need a permission'
              : 'The request failed'
        }
        text={<FailureText failure={failure} />}
      >
        {onRetry && <Button onPress={onRetry}>Try again</Button>}
      </EmptyState>
    </div>
  );
}

/** The server's message, with the positions in the document that it complains about; for a 403, the missing permission. */
function FailureText({ failure }: { failure: Failure }) {
  const permission = failure.code === 403 ? missingPermission(failure.message) : undefined;
  if (permission !== undefined) return <p className="break-words">{refusalText(permission, failure)}</p>;
  // Some messages say all of it themselves.
  const details = failure.details.filter(({ message }) => !failure.message.includes(message));
  return (
    <>
      <p className="break-words">
        <WithDecisions text={failure.message} />
        {failure.code > 0 && <span className="text-faint"> ({failure.code})</span>}
      </p>
      {details.length > 0 && (
        <ul className="mt-1 text-left text-small">
          {details.map(({ pointer, message }) => (
            <li key={`${pointer} ${message}`}>
              <code>{pointer || '/'}</code> <WithDecisions text={message} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** A message, with links from the numbers of decisions to their entries; a form that is being filled in stays open. */
function WithDecisions({ text }: { text: string }) {
  return text.split(/(D-\d{3})/).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <a key={part} className="link" href={hrefOf({ screen: 'help', id: part })} target="_blank" rel="noreferrer">
        {part}
      </a>
    ),
  );
}

/** The permission that a refusal names (D-118). */
function missingPermission(message: string): string | undefined {
  return /Failed: '([\w.]+)'/.exec(message)?.[1];
}

/** The 403 in words: where the permission is missing is in its details. */
function refusalText(permission: string, { details: [where] }: Failure): string {
  if (where?.pointer === '/') return 'Only root can do this.';
  return missingText(permission, /^\w+ '(.+)' \(/.exec(where?.message ?? '')?.[1]);
}

/** Says that the user lost the permission to view what is open, and that unsaved changes are kept. Nothing for any other error. */
export function TakenNote({ name, error }: { name: string; error: unknown }) {
  const failure = failureOf(error);
  if (failure.code !== 403) return null;
  const permission = missingPermission(failure.message);
  return (
    <p role="status" className="border-b border-warn/50 bg-warn-soft px-4 py-2">
      <strong>You no longer have permission to view {name}</strong>
      {permission !== undefined && (
        <>
          {' '}
          (<code>{permission}</code>)
        </>
      )}
      . This is the last version you saw. Your unsaved changes are kept; you can save them once an owner restores your
      permission.
    </p>
  );
}

/** A failure next to its cause, such as a form or a button; nothing if there is none. */
export function FailureNote({ error, className = '' }: { error: unknown; className?: string }) {
  if (!error) return null;
  return (
    <div role="alert" className={`rounded-md border border-error/40 bg-error-soft px-3 py-2 text-small ${className}`}>
      <FailureText failure={failureOf(error)} />
    </div>
  );
}
