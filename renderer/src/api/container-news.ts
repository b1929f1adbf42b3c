import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { keys } from './query-client.ts';

/** Calls back at each piece of news of a container: its record then shows another status, without a commit. */
export function useContainerNews(onNews: () => void): void {
  const { dataUpdatedAt } = useQuery({
    queryKey: [keys.containers, 'news'],
    queryFn: () => Promise.resolve(true),
  });
  const tell = useEffectEvent(onNews);
  const firstAtMs = useRef(0);
  useEffect(() => {
    if (firstAtMs.current === 0) firstAtMs.current = dataUpdatedAt;
    else tell();
  }, [dataUpdatedAt]);
}
