import { useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { useCallback } from 'react';
import { type ScreenName, screens } from './screens/registry.ts';

/**
 * The query parameters of a page: everything that you may want to send to a colleague. All values are text.
 * Screens may add parameters of their own.
 */
export interface Search {
  /** Id of the organization, workspace or environment that everything is narrowed to. */
  scope?: string | undefined;
  q?: string | undefined;
  sel?: string | undefined;
  tab?: string | undefined;
  [name: string]: string | undefined;
}

/** Reads the part of an address after the `?`; every value stays text, also `q=5`. */
export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** The other way; what is undefined or empty is left out, the order is that of the words. */
export function printSearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const name of Object.keys(search).sort()) {
    const value = search[name];
    if (value !== undefined && value !== null && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** A place in the window. */
export interface WindowLocation {
  screen: ScreenName;
  /** The detail that the screen shows, e.g. the id of a resource. */
  id?: string | undefined;
  search?: Search | undefined;
}

/** The path of a place below `/ui`. */
export function pathOf({ screen, id }: Pick<WindowLocation, 'screen' | 'id'>): string {
  const { path } = screens[screen];
  if (id === undefined) return path;
  return `${path === '/' ? '' : path}/${encodeURIComponent(id)}`;
}

/** The path of a screen for the address bar; with `scope`, the scope is kept. */
export function hrefOf(location: WindowLocation, scope?: string): string {
  return `/ui${pathOf(location)}${printSearch({ ...(scope !== undefined && { scope }), ...location.search })}`;
}

/** The address of this place with these words after the `?`. */
export function hrefHere(search: Search): string {
  return `${location.pathname}${printSearch(search)}`;
}

/** The search words of the page, and how to change some of them. */
export function useSearch(): [Search, (change: Search, options?: { isNewStep?: boolean }) => void] {
  // The router parses with parseSearch, so all values are text.
  const search = useLocation({ select: (location): Search => location.search });
  const navigate = useNavigate();
  const change = useCallback(
    (next: Search, { isNewStep = false } = {}) => {
      void navigate({ to: '.', search: ((now: Search) => ({ ...now, ...next })) as never, replace: !isNewStep });
    },
    [navigate],
  );
  return [search, change];
}

/** Returns the part of the path after the screen, e.g. the id of a resource. */
export function usePlaceId(): string | undefined {
  return useParams({ strict: false, select: (params: { id?: string }) => params.id });
}

/**
 * Navigates to a path; keeps the scope unless the path has one. `isReplacing` removes the current page from the browser history, for
 * example a completed form.
 */
export function useGo(): (location: WindowLocation, options?: { isReplacing?: boolean }) => void {
  const navigate = useNavigate();
  return useCallback(
    (location, { isReplacing = false } = {}) => {
      const keepScope = (now: Search) => ({ ...(now.scope !== undefined && { scope: now.scope }), ...location.search });
      void navigate({ to: pathOf(location) as never, search: keepScope as never, replace: isReplacing });
    },
    [navigate],
  );
}
