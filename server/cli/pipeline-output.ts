import type { PipelineJob } from '../model/pipeline-run.ts';

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

/** What the runner writes before each line: the time, and how long the job has run. */
const STAMP = /^\[\d\d:\d\d:\d\d\s[^\]]*\] /;

/** Reads off the runner's output how the jobs of a pipeline get on. */
export class PipelineOutput {
  readonly #jobs: Map<string, PipelineJob>;
  readonly #nowMs: () => number;

  /** @param nowMs epoch milliseconds */
  constructor(jobs: readonly PipelineJob[], nowMs: () => number) {
    this.#jobs = new Map(jobs.map((job) => [job.name, job]));
    this.#nowMs = nowMs;
  }

  get jobs(): PipelineJob[] {
    return [...this.#jobs.values()];
  }

  /** Takes one line of output. */
  read(line: string): void {
    const plain = line.replace(COLOUR, '').replace(STAMP, '');
    // A job's name may hold spaces, and what a job prints may look like anything: only known names before known words count.
    for (const job of this.#jobs.values()) {
      if (!plain.startsWith(job.name)) continue;
      const rest = plain.slice(job.name.length).trimStart();
      if (/^starting \w+ \(/.test(rest))
        this.#jobs.set(job.name, { ...job, state: 'running', startedAtMs: this.#nowMs() });
      const ended = /^finished in .+?(?:\s+(FAIL|WARN)\s+(\d+)\s*)?$/.exec(rest);
      if (ended && job.state === 'running') this.#finish(job, ended[1], ended[2]);
    }
  }

  /** What has not run when all is over was skipped. */
  end(): void {
    for (const job of this.#jobs.values()) {
      if (job.state === 'waiting') this.#jobs.set(job.name, { ...job, state: 'skipped' });
      if (job.state === 'running') this.#jobs.set(job.name, { ...job, state: 'failed' });
    }
  }

  #finish(job: PipelineJob, verdict: string | undefined, code: string | undefined): void {
    const durationMs = this.#nowMs() - (job.startedAtMs ?? this.#nowMs());
    const exitCode = code === undefined ? 0 : Number(code);
    this.#jobs.set(job.name, { ...job, state: verdict === 'FAIL' ? 'failed' : 'success', exitCode, durationMs });
  }
}
