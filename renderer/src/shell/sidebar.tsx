import { Lock, PanelLeftClose, PanelLeftOpen, TriangleAlert } from 'lucide-react';
import { useMissing } from '../api/permissions.tsx';
import { keys } from '../api/query-client.ts';
import { useFigures } from '../api/use-figures.ts';
import { usePlatformStatus } from '../api/use-platform-status.ts';
import { useRead } from '../api/use-read.ts';
import { useScope } from '../api/use-world.ts';
import { IconButton } from '../components/button.tsx';
import { useMedia } from '../components/use-media.ts';
import { prefer, preferences } from '../preferences/preferences.ts';
import { ALL_FORMS } from '../screens/leads/use-leads.ts';
import { type ScreenName, screenNames, screens } from '../screens/registry.ts';
import { useValue } from '../value-store.ts';
import { PlaceLink } from './place-link.tsx';

/** The way to every screen; 208 pixels wide, or 52 with the icons only, as it is in a narrow window. */
export function Sidebar({ current }: { current: ScreenName }) {
  const counts = useSidebarCounts();
  const alerts = useSidebarAlerts();
  const isWindowNarrow = useMedia(NARROW);
  const { isRailNarrow: isAsked, isPresenting } = useValue(preferences);
  const isRailNarrow = isAsked || isPresenting || isWindowNarrow;
  const link = (name: ScreenName) => (
    <ScreenLink
      key={name}
      name={name}
      isCurrent={name === current}
      count={counts[name]}
      alert={alerts[name]}
      isRailNarrow={isRailNarrow}
    />
  );
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
          label={isRailNarrow ? 'Widen the sidebar' : 'Narrow the sidebar'}
          onPress={() => prefer({ isRailNarrow: !isRailNarrow })}
          className="mt-auto ml-1"
        />
      )}
    </nav>
  );
}

interface Alert {
  amount: string;
  text: string;
}

interface ScreenLinkProps {
  name: ScreenName;
  isCurrent: boolean;
  count: number | undefined;
  alert: Alert | undefined;
  isRailNarrow: boolean;
}

/** One screen, with what waits there; a lock in place of a count that the user may not see. */
function ScreenLink({ name, isCurrent, count, alert, isRailNarrow }: ScreenLinkProps) {
  const { title, icon: Icon, letter, needs } = screens[name];
  const missing = useMissing(needs);
  return (
    <li>
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
          <span className="inline-flex items-center gap-1 text-small text-error" title={alert.text}>
            <TriangleAlert aria-hidden size={12} />
            {alert.amount}
            <span className="sr-only"> not delivered</span>
          </span>
        )}
        {!isRailNarrow && missing !== undefined && (
          <span title={missing} className="text-faint">
            <Lock aria-hidden size={12} />
            <span className="sr-only"> (not permitted)</span>
          </span>
        )}
        {!isRailNarrow && missing === undefined && count !== undefined && (
          <span className={`text-small ${isCurrent ? '' : 'text-faint'}`}>{count.toLocaleString('en')}</span>
        )}
      </PlaceLink>
    </li>
  );
}

/** Failures that the user has to act on, by screen. */
function useSidebarAlerts(): Partial<Record<ScreenName, Alert>> {
  const scope = useScope().scope.id;
  const { data, isPlaceholderData } = useFigures({ ...ALL_FORMS, filter: { q: undefined, scope } });
  // A placeholder is the count of the previous scope.
  if (data === undefined || isPlaceholderData || data.failed === 0) return {};
  const amount = `${data.failed.toLocaleString('en')}${data.countedFrom === undefined ? '' : '+'}`;
  return { leads: { amount, text: `${amount} ${amount === '1' ? 'form' : 'forms'} not delivered` } };
}

/** Number of items on each screen, in the scope; unknown numbers are omitted. */
function useSidebarCounts(): Partial<Record<ScreenName, number>> {
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

/** Below it the sidebar shows icons only; a window at 200 % counts as half as wide. */
const NARROW = '(width < 1024px)';
