import { sessionHeaders } from './session-key.ts';

/** The delay before a broken stream is opened again, until the server sets another delay. */
const RETRY_MS = 3_000;
const REFUSED_MS = 4_000;

export interface StreamEvent {
  name: string;
  data: string;
}

export interface StreamListener {
  onOpen(): void;
  onEvent(event: StreamEvent): void;
  /** The line broke, or the answer was no stream; it is tried again. */
  onEnd(isRefused: boolean): void;
}

/**
 * Listens to server-sent events as EventSource does, which cannot send the key of the session. Whatever ends the stream, it is
 * tried again from the last event that had an id.
 *
 * @returns ends it
 */
export function listenTo(address: string, { onOpen, onEvent, onEnd }: StreamListener): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  let lastId = '';
  let retryMs = RETRY_MS;
  const take = (lines: readonly string[]) => {
    let name = 'message';
    const data: string[] = [];
    for (const line of lines) {
      const at = line.indexOf(':');
      const value = line.slice(at + 1).replace(/^ /, '');
      const field = line.slice(0, at);
      if (field === 'event') name = value;
      else if (field === 'data') data.push(value);
      else if (field === 'id') lastId = value;
      else if (field === 'retry') retryMs = Number(value);
    }
    if (data.length > 0 && !signal.aborted) onEvent({ name, data: data.join('\n') });
  };
  /** Resolves when the stream has ended: was there none? */
  const read = async () => {
    const response = await fetch(address, {
      headers: {
        Accept: 'text/event-stream',
        ...sessionHeaders(),
        ...(lastId !== '' && { 'Last-Event-ID': lastId }),
      },
      cache: 'no-store',
      signal,
    });
    const isStream = response.ok && response.headers.get('Content-Type')?.startsWith('text/event-stream');
    if (!isStream || !response.body) {
      await response.body?.cancel();
      return true;
    }
    onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const events = (rest + piece.value).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) take(event.split('\n'));
    }
    return false;
  };
  const keepReading = async () => {
    while (!signal.aborted) {
      const isRefused = await read().catch(() => false); // the line broke, or it was ended
      if (signal.aborted) return;
      onEnd(isRefused);
      await new Promise((resolve) => setTimeout(resolve, isRefused ? REFUSED_MS : retryMs));
    }
  };
  void keepReading();
  return () => abort.abort();
}
