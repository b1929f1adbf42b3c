import { createRootRoute, createRoute, createRouter, useLocation } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { EmptyState, ErrorState } from './components/empty-state.tsx';
import { Skeleton } from './components/skeleton.tsx';
import { type ScreenName, screenNames, screens } from './screens/registry.ts';
import { PlaceLink } from './shell/place-link.tsx';
import { ScreenFrame } from './shell/screen-frame.tsx';
import { prefetch, screenPart } from './shell/screen-part.tsx';
import { Shell } from './shell/shell.tsx';
import { parseSearch, printSearch, type Search } from './url.ts';

/** Every `screens/NAME/screen.tsx`, each a separate bundle. */
const modules = import.meta.glob<{ default: ComponentType }>('./screens/*/screen.tsx');

const rootRoute = createRootRoute({
  validateSearch: (search: Record<string, unknown>) => search as Search, // parseSearch makes texts of all
  component: Frame,
  notFoundComponent: () => (
    <ScreenFrame title="Not found">
      <EmptyState title="There is nothing here" text="The address does not match a screen of this window.">
        <PlaceLink to={{ screen: 'home' }}>Go to Home</PlaceLink>
      </EmptyState>
    </ScreenFrame>
  ),
});

function Frame() {
  const path = useLocation({ select: ({ pathname }) => pathname });
  return <Shell current={screenAt(path)} />;
}

/** Returns the screen that a path belongs to. The path may include `/ui`. */
function screenAt(path: string): ScreenName {
  const [, first = ''] = /^(?:\/ui)?\/([^/]*)/.exec(path) ?? [];
  return screenNames.find((name) => screens[name].path === `/${first}`) ?? 'home';
}

/** `/NAME` and `/NAME/ID` are the same screen. */
const routes = screenNames.flatMap((name) => {
  const load = modules[`./screens/${name}/screen.tsx`];
  if (!load) throw new Error(`screens/${name}/screen.tsx is missing`);
  const component = screenPart(load);
  const { path } = screens[name];
  return [createRoute({ getParentRoute: () => rootRoute, path: path === '/' ? '/' : `${path}/{-$id}`, component })];
});

prefetch(Object.values(modules));

export const router = createRouter({
  routeTree: rootRoute.addChildren(routes),
  basepath: '/ui',
  parseSearch,
  stringifySearch: printSearch,
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Skeleton />,
  defaultPendingMs: 150,
  defaultErrorComponent: ({ error, reset }) => <ErrorState error={error} onRetry={reset} />,
});
