import { useMutation } from '@tanstack/react-query';
import { Fragment, type ReactNode, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { signIn } from '../api/session.ts';
import { sessionState } from '../api/session-state.ts';
import { knownSession } from '../api/use-identity.ts';
import { Button } from '../components/button.tsx';
import { FailureNote } from '../components/empty-state.tsx';
import { TextField } from '../components/fields.tsx';
import { useValue } from '../value-store.ts';
import { Brand } from './brand.tsx';

/**
 * Shows the window to signed-in users, and the sign-in page to others, at the same address. When a session ends, the window stays behind the
 * sign-in page with everything that was typed, for the same user.
 */
export function Gate({ children }: { children: ReactNode }) {
  const session = useValue(sessionState);
  if (session.kind === 'unknown') return <Waiting />;
  const { userId } = session;
  return (
    <>
      {userId !== undefined && <Fragment key={userId}>{children}</Fragment>}
      {session.kind === 'signed-out' &&
        (userId === undefined ? <SignIn reason={session.reason} /> : <SignInAgain reason={session.reason} />)}
    </>
  );
}

/** In the browser's top layer, above all dialogs and lists. The attribute keeps the dialogs behind it from making it inert or closing. */
function SignInAgain({ reason }: { reason: string | undefined }) {
  return createPortal(
    <dialog
      ref={showModal}
      role="alertdialog"
      aria-label="Sign in to Terrarium"
      data-react-aria-top-layer
      onCancel={(event) => event.preventDefault()}
      onClose={({ currentTarget }) => showModal(currentTarget)}
      className="h-full max-h-none w-full max-w-none outline-none"
    >
      <SignIn reason={reason} />
    </dialog>,
    document.body,
  );
}

/** Opens the dialog, also again after the browser has closed it: in some, a second Esc does. */
function showModal(dialog: HTMLDialogElement) {
  if (!dialog.open) dialog.showModal();
  return () => dialog.close();
}

/** When waiting for the server begins to look like a fault. */
const PENDING_DELAY_MS = 1200;

function Waiting() {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), PENDING_DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <main className="flex h-full flex-col items-center justify-center gap-3 text-muted" aria-busy="true">
      <span className="pulse">
        <Brand size={36} />
      </span>
      <h1 className="sr-only">Terrarium</h1>
      <p role="status">{isLong ? 'The server does not respond yet. Trying again ...' : ''}</p>
    </main>
  );
}

function SignIn({ reason }: { reason: string | undefined }) {
  const signing = useMutation({ mutationFn: signIn });
  const [username, setUsername] = useState(knownSession()?.user.name ?? 'root');
  const [password, setPassword] = useState('');
  useEffect(() => {
    const { title } = document;
    document.title = 'Sign in - Terrarium';
    return () => {
      document.title = title;
    };
  }, []);
  return (
    <main className="flex h-full items-start justify-center overflow-auto bg-bg px-4 pt-[16vh]">
      <form
        className="card flex w-80 flex-col gap-3.5 p-6 shadow-pop"
        onSubmit={(event) => {
          event.preventDefault();
          signing.mutate({ username, password });
        }}
      >
        <div className="mb-1 flex items-center gap-2.5">
          <Brand size={26} />
          <h1>Sign in to Terrarium</h1>
        </div>
        <p className="text-muted">
          {reason ??
            'Open the link printed in the terminal to sign in automatically, or enter a user name and password.'}
        </p>
        <TextField label="User name" value={username} onChange={setUsername} isRequired autoComplete="username" />
        <TextField
          label="Password"
          type="password"
          value={password}
          onChange={setPassword}
          isRequired
          autoFocus
          autoComplete="current-password"
        />
        <FailureNote error={signing.error} />
        <Button type="submit" look="primary" isPending={signing.isPending} className="justify-center">
          {signing.isPending ? 'Signing in ...' : 'Sign in'}
        </Button>
      </form>
    </main>
  );
}
