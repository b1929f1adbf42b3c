import { masked } from '../model/masked-text.ts';
import { hasEnded, type PipelineJob } from '../model/pipeline-run.ts';
import { COMMAND_MARK } from './job-script.ts';

/** How often the platform is told how a run goes on, and how much at a time. */
const TELL_EVERY_MS = 500;
const MAX_TOLD_CHARACTERS = 1_000_000;
const MAX_TOLD_LINES = 5_000;

export interface RunLogOptions {
  jobs: readonly PipelineJob[];
  /** Never printed or kept. */
  secrets: readonly string[];
  say(line: string): void;
  /** Tells the platform what is new. */
  tell(news: { jobs: readonly PipelineJob[]; log: string[] }): Promise<unknown>;
}

/** What the jobs of a run say and how they get on, for whoever looks on and for the platform's record. */
export class RunLog {
  readonly #options: RunLogOptions;
  readonly #jobs: Map<string, PipelineJob>;
  readonly #pad: number;
  #pending: string[] = [];
  #isDirty = false;
  #telling: Promise<unknown> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(options: RunLogOptions) {
    this.#options = options;
    this.#jobs = new Map(options.jobs.map((job) => [job.name, job]));
    this.#pad = Math.max(0, ...options.jobs.map(({ name }) => name.length));
    this.#timer = setInterval(() => void this.flush(), TELL_EVERY_MS);
    this.#timer.unref();
  }

  get jobs(): PipelineJob[] {
    return [...this.#jobs.values()];
  }

  change(name: string, change: Partial<PipelineJob>): void {
    const job = this.#jobs.get(name);
    if (job) this.#jobs.set(name, { ...job, ...change });
    this.#isDirty = true;
  }

  /** What has not ended is canceled. */
  cancelRest(): void {
    for (const job of this.jobs) if (!hasEnded(job)) this.change(job.name, { state: 'canceled' });
  }

  /** A line of the run itself. */
  say(text: string): void {
    const line = masked(text, this.#options.secrets);
    this.#options.say(line);
    this.#pending.push(line);
  }

  /** A line about a job. */
  note(name: string, text: string): void {
    this.say(`${this.#stamp(name)} ${text}`);
  }

  /** A line that a job printed. */
  printed(name: string, line: string): void {
    this.note(name, line.startsWith(COMMAND_MARK) ? line.slice(1) : `> ${line}`);
  }

  /** Tells what is new; resolves when all is told that could be. */
  async flush(): Promise<void> {
    while (this.#isDirty || this.#pending.length > 0) {
      this.#isDirty = false;
      const log = this.#takePending();
      this.#telling = this.#telling.then(() => this.#options.tell({ jobs: this.jobs, log })).catch(() => undefined);
    }
    await this.#telling;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #takePending(): string[] {
    let count = 0;
    for (let size = 0; count < Math.min(this.#pending.length, MAX_TOLD_LINES); count += 1) {
      size += this.#pending[count]?.length ?? 0;
      if (size > MAX_TOLD_CHARACTERS && count > 0) break;
    }
    return this.#pending.splice(0, count);
  }

  /** The time, how long the job has run, and its name. */
  #stamp(name: string): string {
    const { startedAtMs = Date.now() } = this.#jobs.get(name) ?? {};
    const clock = new Date().toTimeString().slice(0, 8);
    return `[${clock} ${duration(Date.now() - startedAtMs).padStart(7)}] ${name.padEnd(this.#pad)} `;
  }
}

/** `480 ms`, `1.2 s`, `2.5 min` */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}
