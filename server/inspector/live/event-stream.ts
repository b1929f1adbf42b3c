import type { Request, Response } from 'express';

/** Limits of the events that are kept for viewers that reconnect: number and total characters. */
const MAX_KEPT = 5_000;
const MAX_KEPT_CHARACTERS = 4 * 1024 * 1024;
/** A viewer with more than this unsent is dropped; it reconnects and gets the missed events, or a reset. */
const MAX_UNSENT_BYTES = 1024 * 1024;
/** So that a line that is dead is noticed, and those in between keep it open. */
const HEARTBEAT_MS = 15_000;
/** Events within this time are sent together, because a viewer does not draw faster. */
const GATHER_MS = 50;

/**
 * Sends events to all viewers (`GET /inspect/events`). A viewer that reconnects with the id of an event (`Last-Event-ID`, or `after`) gets the
 * later events, or `reset` if they are no longer kept.
 */
export class EventStream {
  /** Ids of another process mean nothing here. */
  readonly #epoch: string;
  readonly #recentEvents: { seq: number; text: string }[] = [];
  #keptCharacters = 0;
  /** With whether they may see everything. */
  readonly #subscribers = new Map<Response, () => boolean>();
  readonly #gathered = new Map<string, (object | string)[]>();
  #seq = 0;
  #timer: NodeJS.Timeout | undefined;
  #reportedMs = 0;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(epoch: string) {
    this.#epoch = epoch;
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  readonly hasViewers = (): boolean => this.#subscribers.size > 0;

  /** Notifies all viewers, together with later events. @param data what JSON can hold; without it, only that something changed */
  readonly publish = (topic: string, data?: object | string): void => {
    let gathered = this.#gathered.get(topic);
    if (!gathered) {
      gathered = [];
      this.#gathered.set(topic, gathered);
    }
    if (data !== undefined) gathered.push(data);
    this.#timer ??= setTimeout(
      () => this.#flush(),
      Math.max(0, this.#reportedMs + GATHER_MS - performance.now()),
    ).unref();
  };

  /**
   * Streams events to a viewer until it disconnects.
   * @param seesAll false: the viewer is only notified that something has changed; called for each event, and an error ends the response
   */
  attend(req: Request, res: Response, seesAll: () => boolean): void {
    res.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    });
    res.write(`retry: 1000\n\n${visibleEvents(this.#missedBy(lastIdOf(req)), seesAll())}`);
    this.#subscribers.set(res, seesAll);
    res.on('close', () => {
      this.#subscribers.delete(res);
      if (this.#subscribers.size === 0) clearInterval(this.#heartbeat);
    });
    if (this.#subscribers.size === 1)
      this.#heartbeat = setInterval(() => this.#send(': still here\n\n'), HEARTBEAT_MS).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#heartbeat);
    for (const viewer of this.#subscribers.keys()) viewer.end();
    this.#subscribers.clear();
  }

  #flush(): void {
    this.#timer = undefined;
    this.#reportedMs = performance.now();
    let all = '';
    for (const [topic, events] of this.#gathered) {
      const seq = ++this.#seq;
      const text = `id: ${this.#epoch}-${seq}\nevent: ${topic}\ndata: ${JSON.stringify(events)}\n\n`;
      this.#recentEvents.push({ seq, text });
      this.#keptCharacters += text.length;
      all += text;
    }
    this.#gathered.clear();
    while (this.#recentEvents.length > MAX_KEPT || this.#keptCharacters > MAX_KEPT_CHARACTERS) {
      this.#keptCharacters -= this.#recentEvents.shift()?.text.length ?? 0;
    }
    this.#send(all);
  }

  #send(text: string): void {
    for (const [viewer, seesAll] of this.#subscribers) {
      try {
        if (viewer.writableLength > MAX_UNSENT_BYTES) viewer.destroy();
        else viewer.write(visibleEvents(text, seesAll()));
      } catch {
        viewer.end(); // its next request gets the reason
      }
    }
  }

  #missedBy(lastId: string | undefined): string {
    const position = `id: ${this.#epoch}-${this.#seq}\n`;
    if (lastId === undefined) return `${position}event: hello\ndata: {}\n\n`;
    const [epoch, seq] = lastId.split('-');
    const [oldest] = this.#recentEvents;
    const isKnown =
      epoch === this.#epoch && Number(seq) <= this.#seq && Number(seq) >= (oldest?.seq ?? this.#seq + 1) - 1;
    if (!isKnown) return `${position}event: reset\ndata: {}\n\n`;
    return this.#recentEvents
      .filter((event) => event.seq > Number(seq))
      .map(({ text }) => text)
      .join('');
  }
}

/** Events as somebody may hear them. */
function visibleEvents(events: string, seesAll: boolean): string {
  return seesAll ? events : events.replace(/^data: [^\n]*/gm, 'data: []');
}

function lastIdOf(req: Request): string | undefined {
  const { after } = req.query;
  const header = req.headers['last-event-id'];
  if (typeof header === 'string' && header !== '') return header;
  return typeof after === 'string' && after !== '' ? after : undefined;
}
