import { CircleCheck, CircleX, Info, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { sessionState } from '../api/session-state.ts';
import { useValue, ValueStore } from '../value-store.ts';
import { IconButton } from './button.tsx';

export interface NewToast {
  tone: 'ok' | 'error' | 'plain';
  text: string;
  /** A button, e.g. Undo. */
  action?: { text: string; run(): void };
}

interface Toast extends NewToast {
  id: number;
}

/** Errors stay until they are closed. */
const SHOWN_MS = 6000;
/** A message with a button stays long enough to be read and pressed. */
const SHOWN_WITH_ACTION_MS = 20_000;
const MAX_SHOWN = 4;
/** A list that fills fast must not announce without pause. */
const ANNOUNCE_EVERY_MS = 1200;

const toasts = new ValueStore<readonly Toast[]>([]);
const announcement = new ValueStore('');
let lastId = 0;
let waiting: string | undefined;
let isQuiet = false;
sessionState.whenUserLeaves(() => toasts.set([]));

/** Shows a short message at the lower left, and announces it. The lower right stays free for buttons. */
export function toast(newToast: NewToast): void {
  lastId += 1;
  const id = lastId;
  toasts.set([...toasts.value, { ...newToast, id }].slice(-MAX_SHOWN));
  if (newToast.tone !== 'error') setTimeout(() => close(id), newToast.action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
}

/** Says something to those who listen, politely and not more often than every 1.2 seconds; the latest wins. */
export function announce(text: string): void {
  waiting = text;
  if (isQuiet) return;
  isQuiet = true;
  announcement.set(waiting);
  waiting = undefined;
  setTimeout(() => {
    isQuiet = false;
    if (waiting !== undefined) announce(waiting);
  }, ANNOUNCE_EVERY_MS);
}

function close(id: number): void {
  toasts.set(toasts.value.filter((entry) => entry.id !== id));
}

/** The place of toasts and of what is announced; once on the page. */
export function Toasts() {
  const visibleToasts = useValue(toasts);
  const announcementText = useValue(announcement);
  // The region is empty at first: what is there from the beginning is not read aloud.
  const [isReady, setReady] = useState(false);
  useEffect(() => setReady(true), []);
  return (
    <>
      <div aria-live="polite" className="sr-only">
        {isReady && announcementText}
      </div>
      <section
        aria-label="Messages"
        className="pointer-events-none fixed bottom-10 left-16 z-50 flex w-96 max-w-[80vw] flex-col gap-2"
      >
        {visibleToasts.map(({ id, tone, text, action }) => {
          const Icon = tone === 'ok' ? CircleCheck : tone === 'error' ? CircleX : Info;
          return (
            <div
              key={id}
              role={tone === 'error' ? 'alert' : 'status'}
              className="pointer-events-auto flex items-start gap-2 rounded-lg border border-line bg-overlay py-1.5 pr-1.5 pl-3 shadow-pop"
            >
              <Icon
                aria-hidden
                size={15}
                className={`mt-1.5 shrink-0 ${tone === 'ok' ? 'text-ok' : tone === 'error' ? 'text-error' : 'text-muted'}`}
              />
              <p className="min-w-0 flex-1 py-1 break-words">{text}</p>
              {action && (
                <button
                  type="button"
                  className="mt-1 font-medium text-accent"
                  onClick={() => {
                    action.run();
                    close(id);
                  }}
                >
                  {action.text}
                </button>
              )}
              <IconButton icon={X} label="Close message" onPress={() => close(id)} />
            </div>
          );
        })}
      </section>
    </>
  );
}
