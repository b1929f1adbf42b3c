import { PanelLeftClose, PanelLeftOpen, TriangleAlert } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { usePlatformStatus } from '../api/platform-status.ts';
import { keys } from '../api/query-client.ts';
import { useRead } from '../api/read.ts';
import { useScope } from '../api/world.ts';
import { counted } from '../parts/amounts.ts';
import { IconButton } from '../parts/button.tsx';
import { prefer, preferences } from '../preferences/preferences.ts';
import { type ScreenName, screenNames, screens } from '../screens/registry.ts';
import { useValue } from '../value-store.ts';
import { PlaceLink } from './place-link.tsx';

/** The way to every screen; 208 pixels wide, or 52 with the icons only, as it is in a narrow window. */
export function Rail({ current }: { current: ScreenName }) {
  const counts = useRailCounts();
  const alerts = useRailAlerts();
  const isWindowNarrow = useIsNarrowWindow();
  const { isRailNarrow: isAsked, isPresenting } = useValue(preferences);
  const isRailNarrow = isAsked || isPresenting || isWindowNarrow;
  const link = (name: ScreenName) => {
    const { title, icon: Icon, letter } = screens[name];
    const isCurrent = name === current;
    const count = counts[name];
    const alert = alerts[name];
    return (
      <li key={name}>
        <PlaceLink
          to={{ screen: name }}
          isCurrent={isCurrent}
          {...(isRailNarrow && { label: alert ? `${title}, ${alert.text}` : title })}
          className={`flex h-[30px] items-center gap-2.5 rounded-md px-2.5 ${
            isCurrent ? 'bg-accent-soft font-medium text-accent' : 'text-muted hover:bg-raised hover:text-text'
          } ${isRailNarrow ? 'justify-center' : ''}`}
        >
          <span
            title={isRailNarrow ? `${title} (g ${letter})` : undefined}
            className={isRailNarrow && alert ? 'text-error' : ''}
          >
            <Icon aria-hidden size={16} strokeWidth={1.7} />
          </span>
          {!isRailNarrow && <span className="flex-1">{title}</span>}
          {!isRailNarrow && alert && (
            <span className="inline-flex items-center gap-1 text-[11px] text-error" title={alert.text}>
              <TriangleAlert aria-hidden size={12} />
              {alert.count.toLocaleString('en')}
              <span className="sr-only"> refused</span>
            </span>
          )}
          {!isRailNarrow && count !== undefined && (
            <span className={`text-[11px] ${isCurrent ? '' : 'text-faint'}`}>{count.toLocaleString('en')}</span>
          )}
        </PlaceLink>
      </li>
    );
  };
  return (
    <nav
      aria-label="Screens"
      className={`flex min-h-0 flex-col overflow-y-auto border-r border-line bg-panel p-2 ${isRailNarrow ? 'w-[52px]' : 'w-[208px]'}`}
    >
      <ul className="flex flex-col gap-px">{screenNames.filter((name) => !screens[name].isLow).map(link)}</ul>
      <hr className="mx-1 my-2 border-line" />
      <ul className="flex flex-col gap-px">{screenNames.filter((name) => screens[name].isLow).map(link)}</ul>
      {!isWindowNarrow && (
        <IconButton
          icon={isRailNarrow ? PanelLeftOpen : PanelLeftClose}
          label={isRailNarrow ? 'Widen the rail' : 'Narrow the rail'}
          onPress={() => prefer({ isRailNarrow: !isRailNarrow })}
          className="mt-auto ml-1"
        />
      )}
    </nav>
  );
}

/** What went wrong on a screen and waits for somebody to look at it. */
function useRailAlerts(): Partial<Record<ScreenName, { count: number; text: string }>> {
  const count = useRead(keys.leads, '/inspect/leads', { refused: true }).data?.length ?? 0;
  return count === 0 ? {} : { leads: { count, text: counted(count, 'refused form') } };
}

/** How many there are of what each screen shows, in the scope; what is not known is left out. */
function useRailCounts(): Partial<Record<ScreenName, number>> {
  const { scope } = useScope();
  const all = usePlatformStatus().data?.store.resources;
  const { data } = useRead(keys.world, '/inspect/tree/counts', { scope: scope.id });
  if (!data) return all === undefined ? {} : { resources: all };
  const { lambdas, containers, jobs, apiendpoints } = data.types;
  return {
    resources: data.total,
    lambdas: lambdas ?? 0,
    containers: (containers ?? 0) + (jobs ?? 0),
    gateway: apiendpoints ?? 0,
  };
}

/** Below it the rail shows icons only and the addresses are behind a button; a window at 200 % counts as half as wide. */
const narrow = matchMedia('(width < 1024px)');

function watch(watcher: () => void): () => void {
  narrow.addEventListener('change', watcher);
  return () => narrow.removeEventListener('change', watcher);
}

/** Is there too little width for everything? */
function useIsNarrowWindow(): boolean {
  return useSyncExternalStore(watch, () => narrow.matches);
}
