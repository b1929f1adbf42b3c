import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { FailureError } from '../api/failure.ts';
import { live } from '../api/live.ts';
import { ErrorState } from '../components/empty-state.tsx';
import { Skeleton } from '../components/skeleton.tsx';

/** Loads a screen, a part of the window of its own. */
export type ScreenLoader = () => Promise<{ default: ComponentType }>;

/** Delay until other screens are preloaded, after the first screen is live. */
const PREFETCH_DELAY_MS = 5_000;
/** A part that is loaded at once is not announced. */
const PENDING_MS = 150;

/** Chromium aborts requests when the machine's networks change, as containers make them do; then the load is retried. */
const RETRY_DELAYS_MS = [100, 400];

const loaded = new Map<ScreenLoader, ComponentType>();

async function loadPart(loader: ScreenLoader, [againAfterMs, ...later] = RETRY_DELAYS_MS): Promise<void> {
  try {
    loaded.set(loader, (await loader()).default);
  } catch (thrown) {
    if (againAfterMs === undefined) throw thrown;
    await new Promise((resolve) => setTimeout(resolve, againAfterMs));
    await loadPart(loader, later);
  }
}

/** A screen that is loaded when it is opened. If loading fails, the error replaces the screen, and the window stays. */
export function screenPart(loader: ScreenLoader): () => ReactNode {
  return function ScreenPart() {
    const [, setLoaded] = useState(0);
    const [error, setError] = useState<unknown>();
    const [attempt, setAttempt] = useState(0);
    const [isSlow, setSlow] = useState(false);
    // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is another loading
    useEffect(() => {
      if (loaded.has(loader)) return undefined;
      setError(undefined);
      const timer = setTimeout(() => setSlow(true), PENDING_MS);
      loadPart(loader).then(() => setLoaded(Date.now()), setError);
      return () => clearTimeout(timer);
    }, [attempt]);
    const Part = loaded.get(loader);
    if (Part) return <Part />;
    if (error !== undefined) return <ErrorState error={NOT_LOADED} onRetry={() => setAttempt(attempt + 1)} />;
    return isSlow && <Skeleton />;
  };
}

const NOT_LOADED = new FailureError({
  kind: 'offline',
  code: 0,
  message:
    'This part of the window could not be loaded; the network may have changed. Other open parts are not affected.',
  details: [],
});

/** Preloads all screens one after the other once the window is live, so that a later network failure does not affect them. */
export function prefetch(loaders: readonly ScreenLoader[]): void {
  let isBegun = false;
  const begin = () => {
    if (isBegun || live.connection.value !== 'live') return;
    isBegun = true;
    setTimeout(async () => {
      // A failed preload is repeated when a user opens the screen.
      for (const loader of loaders) await loadPart(loader).catch(() => undefined);
    }, PREFETCH_DELAY_MS);
  };
  live.connection.watch(begin);
  begin();
}
