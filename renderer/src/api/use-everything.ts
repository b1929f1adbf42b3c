import { useEffect, useState } from 'react';
import type { HitKind, SearchHit, SearchPart } from '../../../server/api/routes/search.ts';
import { addressOf } from './client.ts';
import { sessionHeaders } from './session-key.ts';

export type { HitKind, SearchHit };

export interface SearchState {
  /** The query that the state belongs to; the user may have typed more since. */
  q: string;
  hits: readonly SearchHit[];
  found: SearchPart['found'];
  /** From 0 to 1. */
  progress: number;
  state: 'searching' | 'complete' | 'canceled' | 'failed';
}

const TYPING_MS = 120;
const EMPTY_RESULTS: Omit<SearchState, 'q'> = { hits: [], found: {}, progress: 0, state: 'searching' };

/** Searches the whole platform while the component is shown; `cancel` keeps the results. */
export function useEverything(typed: string): SearchState & { cancel(): void } {
  const q = typed.trim();
  const [state, setState] = useState<SearchState>({ q: '', ...EMPTY_RESULTS });
  const [run, setRun] = useState<AbortController>();
  useEffect(() => {
    if (q === '') return undefined;
    const ends = new AbortController();
    setRun(ends);
    let latest: SearchState = { q, ...EMPTY_RESULTS };
    const show = (change: Partial<SearchState>) => {
      latest = { ...latest, ...change };
      if (!ends.signal.aborted) setState(latest);
    };
    const timer = setTimeout(async () => {
      try {
        for await (const { hits, found, searched, total, isComplete } of partsOf(q, ends.signal))
          show({
            hits: [...latest.hits, ...hits],
            found,
            progress: total === 0 ? 1 : searched / total,
            state: isComplete ? 'complete' : 'searching',
          });
        if (latest.state === 'searching') show({ state: 'failed' });
      } catch {
        show({ state: 'failed' });
      }
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      ends.abort();
    };
  }, [q]);
  const currentState = state.q === q ? state : { q, ...EMPTY_RESULTS };
  return {
    ...currentState,
    cancel() {
      run?.abort();
      setState({ ...currentState, state: 'canceled' });
    },
  };
}

/** The parts of the response as they arrive; throws if the search is refused or the connection ends early. */
async function* partsOf(q: string, signal: AbortSignal): AsyncGenerator<SearchPart> {
  const response = await fetch(addressOf('/inspect/search', { q }), {
    credentials: 'same-origin',
    headers: sessionHeaders(),
    signal,
  });
  if (!response.ok || !response.body) throw new Error(`the search was refused with status ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const lines = (rest + piece.value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as SearchPart; // as the API document says
  }
}
