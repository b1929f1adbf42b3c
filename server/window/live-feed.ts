import type { Request, Response } from 'express';

/** What the window's lists are about; an event says that one of them has changed. */
export type Topic =
  | 'world'
  | 'history'
  | 'invocations'
  | 'traffic'
  | 'leads'
  | 'outbound'
  | 'workbench'
  | 'logs'
  | 'containers'
  | 'pipelines'
  | 'status';

/** Events that a viewer who was away for a moment can still be told: so many, and of so many characters together. */
const MAX_KEPT = 5_000;
const MAX_KEPT_CHARACTERS = 4 * 1024 * 1024;
/** A viewer with more than this unsent is dropped; it comes back and is told what it missed, or to begin anew. */
const MAX_UNSENT_BYTES = 1024 * 1024;
/** So that a line that is dead is noticed, and those in between keep it open. */
const HEARTBEAT_MS = 15_000;
/** What happens so soon after something was told is told together: a viewer draws no faster. */
const GATHER_MS = 50;

interface Kept {
  seq: number;
  text: string;
}

/**
 * What happens, told to every viewer by server-sent events (`GET /inspect/events`). Each event has an id; a viewer that comes back
 * with it (`Last-Event-ID`, or `after`) is told what came since, or `reset` when that is no longer known. A viewer that does not
 * read is dropped: nobody waits for it.
 */
export class LiveFeed {
  /** Ids of another process mean nothing here. */
  readonly #epoch: string;
  readonly #kept: Kept[] = [];
  #keptCharacters = 0;
  readonly #viewers = new Set<Response>();
  /** Those who are told that something has changed, and not what. */
  readonly #blind = new WeakSet<Response>();
  readonly #gathered = new Map<Topic, (object | string)[]>();
  #seq = 0;
  #timer: NodeJS.Timeout | undefined;
  #toldMs = 0;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(epoch: string) {
    this.#epoch = epoch;
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /**
   * Tells everybody, at once or with what comes soon after; costs next to nothing while nobody looks.
   *
   * @param what what JSON can hold; without it, only that something changed
   */
  tell(topic: Topic, what?: object | string): void {
    let gathered = this.#gathered.get(topic);
    if (!gathered) {
      gathered = [];
      this.#gathered.set(topic, gathered);
    }
    if (what !== undefined) gathered.push(what);
    this.#timer ??= setTimeout(() => this.#flush(), Math.max(0, this.#toldMs + GATHER_MS - performance.now())).unref();
  }

  /** Answers a viewer's request for as long as it looks. @param seesAll otherwise it is told that something has changed, and not what */
  attend(req: Request, res: Response, seesAll: boolean): void {
    if (!seesAll) this.#blind.add(res);
    res.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    });
    res.write(`retry: 1000\n\n${told(this.#missedBy(lastIdOf(req)), seesAll)}`);
    this.#viewers.add(res);
    res.on('close', () => {
      this.#viewers.delete(res);
      if (this.#viewers.size === 0) clearInterval(this.#heartbeat);
    });
    if (this.#viewers.size === 1)
      this.#heartbeat = setInterval(() => this.#send(': still here\n\n'), HEARTBEAT_MS).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#heartbeat);
    for (const viewer of this.#viewers) viewer.end();
    this.#viewers.clear();
  }

  #flush(): void {
    this.#timer = undefined;
    this.#toldMs = performance.now();
    let all = '';
    for (const [topic, events] of this.#gathered) {
      const seq = ++this.#seq;
      const text = `id: ${this.#epoch}-${seq}\nevent: ${topic}\ndata: ${JSON.stringify(events)}\n\n`;
      this.#kept.push({ seq, text });
      this.#keptCharacters += text.length;
      all += text;
    }
    this.#gathered.clear();
    while (this.#kept.length > MAX_KEPT || this.#keptCharacters > MAX_KEPT_CHARACTERS) {
      this.#keptCharacters -= this.#kept.shift()?.text.length ?? 0;
    }
    this.#send(all);
  }

  #send(text: string): void {
    for (const viewer of this.#viewers) {
      if (viewer.writableLength > MAX_UNSENT_BYTES) viewer.destroy();
      else viewer.write(told(text, !this.#blind.has(viewer)));
    }
  }

  #missedBy(lastId: string | undefined): string {
    const here = `id: ${this.#epoch}-${this.#seq}\n`;
    if (lastId === undefined) return `${here}event: hello\ndata: {}\n\n`;
    const [epoch, seq] = lastId.split('-');
    const [oldest] = this.#kept;
    const isKnown =
      epoch === this.#epoch && Number(seq) <= this.#seq && Number(seq) >= (oldest?.seq ?? this.#seq + 1) - 1;
    if (!isKnown) return `${here}event: reset\ndata: {}\n\n`;
    return this.#kept
      .filter((one) => one.seq > Number(seq))
      .map(({ text }) => text)
      .join('');
  }
}

/** Events as somebody may hear them. */
function told(events: string, seesAll: boolean): string {
  return seesAll ? events : events.replace(/^data: .*$/gm, 'data: []');
}

function lastIdOf(req: Request): string | undefined {
  const { after } = req.query;
  const header = req.headers['last-event-id'];
  if (typeof header === 'string' && header !== '') return header;
  return typeof after === 'string' && after !== '' ? after : undefined;
}
