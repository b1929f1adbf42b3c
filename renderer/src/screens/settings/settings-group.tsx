import type { ReactNode } from 'react';

interface SettingsGroupProps {
  title: string;
  note?: ReactNode;
  /** The heading is above what needs all the width. */
  isWide?: boolean;
  children: ReactNode;
}

/** Settings that belong together, with what one should know of them. */
export function SettingsGroup({ title, note, children, isWide = false }: SettingsGroupProps) {
  return (
    <section
      aria-label={title}
      className={`grid grid-cols-1 gap-x-6 gap-y-2 border-b border-line pb-5 last:border-0 ${isWide ? '' : 'md:grid-cols-[200px_minmax(0,1fr)]'}`}
    >
      <div>
        <h2>{title}</h2>
        {note && <p className="mt-0.5 text-small text-muted">{note}</p>}
      </div>
      <div className="flex min-w-0 flex-col items-start">{children}</div>
    </section>
  );
}
