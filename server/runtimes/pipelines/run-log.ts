import { hasEnded, type PipelineJob } from '../../model/pipeline-run.ts';
import { masked } from '../../model/rules/mask.ts';
import { COMMAND_MARK } from './job-script.ts';
import type { PipelineContext } from './pipeline-request.ts';

/** Interval and size of the log updates that are sent to the platform. */
const TELL_EVERY_MS = 500;
const MAX_TOLD_CHARACTERS = 1_000_000;
const MAX_TOLD_LINES = 5_000;

/** The marker of a section ("Custom collapsible sections"); the rest of its line, with the title, is the next line here. */
const SECTION = /^(?:\p{Cc}\[0K)?section_(start|end):\d+:([\w.-]+)(\[[^\]]*\])?$/u;
/** Ends a marker: erases it in a terminal. */
const ERASED = '\u001b[0K';

export interface RunLogOptions extends Pick<PipelineContext, 'reportLine' | 'onSection'> {
  jobs: readonly PipelineJob[];
  secrets: readonly string[];
  report(update: { jobs: readonly PipelineJob[]; log: string[] }): Promise<unknown>;
}

/** Output and progress of a run's jobs, for the terminal and for the platform's record. */
export class RunLog {
  readonly #options: RunLogOptions;
  readonly #jobs: Map<string, PipelineJob>;
  readonly #pad: number;
  readonly #begunMs = new Map<string, number>();
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

  add(jobs: readonly PipelineJob[]): void {
    for (const job of jobs) this.#jobs.set(job.name, job);
    this.#isDirty = true;
  }

  begin(name: string): void {
    this.#begunMs.set(name, performance.now());
    this.change(name, { state: 'running', startedAtMs: Date.now() });
  }

  /** Returns the milliseconds since a job began, 0 if it has not. */
  elapsedMs(name: string): number {
    const begunMs = this.#begunMs.get(name);
    return begunMs === undefined ? 0 : Math.round(performance.now() - begunMs);
  }

  change(name: string, change: Partial<PipelineJob>): void {
    const job = this.#jobs.get(name);
    if (job) this.#jobs.set(name, { ...job, ...change });
    this.#isDirty = true;
  }

  /** Jobs that have not begun are skipped: those of child pipelines that were not created. */
  skipRest(): void {
    for (const job of this.jobs) if (job.state === 'waiting') this.change(job.name, { state: 'skipped' });
  }

  cancelRest(): void {
    for (const job of this.jobs) if (!hasEnded(job)) this.change(job.name, { state: 'canceled' });
  }

  printLine(text: string, jobLine?: { job: string; text: string }): void {
    const line = masked(text, this.#options.secrets);
    this.#options.reportLine(line, jobLine);
    this.#pending.push(line);
  }

  note(name: string, text: string): void {
    const maskedText = masked(text, this.#options.secrets);
    this.printLine(`${this.#stamp(name)} ${maskedText}`, { job: name, text: maskedText });
  }

  printed(name: string, line: string): void {
    const [, boundary, section, options] = SECTION.exec(line) ?? [];
    if (section !== undefined) {
      const isCollapsed = options?.includes('collapsed=true') === true;
      this.#options.onSection?.(name, { section, isStart: boundary === 'start', isCollapsed });
    } else if (line.startsWith(COMMAND_MARK)) this.note(name, line.slice(1));
    else if (line !== ERASED) this.note(name, `> ${line.startsWith(ERASED) ? line.slice(ERASED.length) : line}`);
  }

  /** Sends new lines; resolves when all have been sent, as far as possible. */
  async flush(): Promise<void> {
    while (this.#isDirty || this.#pending.length > 0) {
      this.#isDirty = false;
      const log = this.#takePending();
      this.#telling = this.#telling.then(() => this.#options.report({ jobs: this.jobs, log })).catch(() => undefined);
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

  #stamp(name: string): string {
    const clock = new Date().toTimeString().slice(0, 8);
    return `[${clock} ${duration(this.elapsedMs(name)).padStart(7)}] ${name.padEnd(this.#pad)} `;
  }
}

/** `480 ms`, `1.2 s`, `2.5 min` */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}
