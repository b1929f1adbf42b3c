import type { QueryClient } from '@tanstack/react-query';
import type { LiveMessage } from './live-stream.ts';

/** Takes the events of one picture into what was read: lists are read anew, at most once a topic. */
export function applyEvents(client: QueryClient, events: readonly LiveMessage[]): void {
  for (const name of new Set(events.map((event) => event.name))) void client.invalidateQueries({ queryKey: [name] });
}
