import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';

/** One way to begin: a few steps, of which those that are done are ticked. */
export function Guide({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  return (
    <article className="card px-4 py-3.5">
      <h3 className="font-semibold">{title}</h3>
      <p className="text-muted">{lead}</p>
      <ol className="mt-3 flex flex-col gap-3">{children}</ol>
    </article>
  );
}

export function Step({ text, isDone, children }: { text: string; isDone?: boolean | undefined; children?: ReactNode }) {
  return (
    <li className="flex gap-2.5">
      {isDone ? (
        <CircleCheck aria-hidden size={16} className="mt-0.5 shrink-0 text-ok" />
      ) : (
        <span aria-hidden className="mt-0.5 size-4 shrink-0 rounded-full border-2 border-line-strong" />
      )}
      <div className="flex min-w-0 flex-1 flex-col items-start gap-1">
        <p className="font-medium">
          {text}
          {isDone && <span className="sr-only"> (done)</span>}
        </p>
        {children}
      </div>
    </li>
  );
}
