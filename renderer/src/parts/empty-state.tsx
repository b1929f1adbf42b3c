import { CircleX, Lock, type LucideIcon, PlugZap, SearchX, Sprout } from 'lucide-react';
import type { ReactNode } from 'react';
import { type Failure, failureOf } from '../api/failure.ts';
import { Button } from './button.tsx';

export interface EmptyStateProps {
  title: string;
  /** Why it is empty and what to do next. */
  text: ReactNode;
  icon?: LucideIcon;
  /** Buttons and links. */
  children?: ReactNode;
}

/** Nothing there: why, and what to do next. */
export function EmptyState({ title, text, icon: Icon = Sprout, children }: EmptyStateProps) {
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
export function NoMatch({ what, onClear }: { what: string; onClear(): void }) {
  return (
    <EmptyState icon={SearchX} title={`No ${what} match`} text="Nothing here fits what you asked for.">
      <Button onPress={onClear}>Clear the query</Button>
    </EmptyState>
  );
}

/** Something failed: what the server said of it, and a way to try again. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const failure = failureOf(error);
  return (
    <div role="alert">
      <EmptyState
        icon={failure.kind === 'offline' ? PlugZap : failure.code === 403 ? Lock : CircleX}
        title={
          failure.kind === 'offline'
            ? 'The server does not answer'
            : failure.code === 403
              ? 'Withheld from you'
              : 'This did not work'
        }
        text={<FailureText failure={failure} />}
      >
        {onRetry && <Button onPress={onRetry}>Try again</Button>}
      </EmptyState>
    </div>
  );
}

/** What the server said, with the places in the document that it complains about. */
function FailureText({ failure }: { failure: Failure }) {
  const right = failure.code === 403 ? missingRight(failure.message) : undefined;
  if (right !== undefined) {
    return (
      <p className="break-words">
        It takes the right <code>{right}</code>, which you do not have here. Root, or whoever owns it, can give it to
        you.
      </p>
    );
  }
  // Some messages say all of it themselves.
  const details = failure.details.filter(({ message }) => !failure.message.includes(message));
  return (
    <>
      <p className="break-words">
        {failure.message}
        {failure.code > 0 && <span className="ml-1.5 text-faint">({failure.code})</span>}
      </p>
      {details.length > 0 && (
        <ul className="mt-1 text-left text-[12px]">
          {details.map(({ pointer, message }) => (
            <li key={`${pointer} ${message}`}>
              <code>{pointer || '/'}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** The right that a refusal names (D-118). */
function missingRight(message: string): string | undefined {
  return /Failed: '([\w.]+)'/.exec(message)?.[1];
}

/** What one looks at was taken from one's eyes meanwhile: why, and that nothing is lost. Nothing for any other error. */
export function TakenNote({ name, error }: { name: string; error: unknown }) {
  const failure = failureOf(error);
  if (failure.code !== 403) return null;
  const right = missingRight(failure.message);
  return (
    <p role="status" className="border-b border-warn/50 bg-warn-soft px-4 py-2">
      <strong>Somebody has taken your right to see {name}</strong>
      {right !== undefined && (
        <>
          {' '}
          (<code>{right}</code>)
        </>
      )}
      . What is shown is as you last saw it. What you have written stays here; it can be saved when you have the right
      again, which root or an owner can give you.
    </p>
  );
}

/** A failure beside what caused it: a form, a button; nothing while there is none. */
export function FailureNote({ error, className = '' }: { error: unknown; className?: string }) {
  if (!error) return null;
  return (
    <div
      role="alert"
      className={`rounded-md border border-error/40 bg-error-soft px-3 py-2 text-[12.5px] ${className}`}
    >
      <FailureText failure={failureOf(error)} />
    </div>
  );
}
