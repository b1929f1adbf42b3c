import { type ReactNode, useEffect } from 'react';

export interface ScreenFrameProps {
  /** The heading and, with the instance, the title of the browser's tab. */
  title: string;
  /** Beside the heading: a QueryBar, a count. */
  bar?: ReactNode;
  /** At the end of the bar: buttons. */
  actions?: ReactNode;
  /** Fills what is left; brings its own scrolling. */
  children: ReactNode;
}

/** What every screen stands in: a heading, a bar, and the space below. */
export function ScreenFrame({ title, bar, actions, children }: ScreenFrameProps) {
  useEffect(() => {
    document.title = `${title} - Terrarium`;
  }, [title]);
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      {/* With too little room for both, the actions go below the bar. */}
      <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-line px-3.5 py-1.5">
        <h1 className="shrink-0">{title}</h1>
        <div className="flex min-w-0 flex-1 basis-48 items-center gap-2">{bar}</div>
        {actions && <div className="flex shrink-0 items-center gap-2">{actions}</div>}
      </div>
      <div className="flex min-h-0 flex-1 flex-col">{children}</div>
    </div>
  );
}
