import { CircleHelp } from 'lucide-react';
import type { ReactNode } from 'react';
import { useMissing } from '../api/permissions.tsx';
import { Withheld } from '../components/empty-state.tsx';
import { screens } from '../screens/registry.ts';
import { useTabTitle } from './instance.ts';
import { PlaceLink } from './place-link.tsx';

const entryByTitle = new Map(Object.values(screens).map((entry) => [entry.title, entry]));

export interface ScreenFrameProps {
  /** The heading and, with the instance, the title of the browser's tab. */
  title: string;
  /** Beside the heading: a QueryBar, a count. */
  bar?: ReactNode;
  /** At the end of the bar: buttons. */
  actions?: ReactNode;
  /** Shown in place of the list when the user may not see it: a link to what they may see. */
  withheld?: ReactNode;
  /** True if the screen's content needs no permission. */
  isOpenToAll?: boolean;
  /** Fills what is left; brings its own scrolling. */
  children: ReactNode;
}

export function ScreenFrame({ title, bar, actions, withheld, isOpenToAll, children }: ScreenFrameProps) {
  useTabTitle(title);
  const entry = entryByTitle.get(title);
  const help = entry?.help;
  const missing = useMissing(isOpenToAll ? undefined : entry?.needs);
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      {/* With too little space for both, the actions are below the bar. */}
      <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-line px-3.5 py-1.5">
        <h1 className="shrink-0">{title}</h1>
        {help !== undefined && (
          <PlaceLink
            to={{ screen: 'help', id: help }}
            label={`Help on ${title}`}
            className="-ml-2 grid size-6 place-items-center rounded text-faint hover:text-text"
          >
            <CircleHelp aria-hidden size={14} />
          </PlaceLink>
        )}
        {missing === undefined && (
          <>
            <div className="flex min-w-0 flex-1 basis-48 flex-wrap max-sm:basis-full items-center gap-2">{bar}</div>
            {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
          </>
        )}
      </div>
      <div className="flex min-h-0 flex-1 flex-col">
        {missing === undefined ? children : <Withheld text={missing}>{withheld}</Withheld>}
      </div>
    </div>
  );
}
