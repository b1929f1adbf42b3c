import { stripVTControlCharacters } from 'node:util';
import type { PipelineJob, PipelineRun } from '../model/pipeline-run.ts';
import { SHELL_COMMAND } from '../model/shell-command.ts';
import { AFTER_TITLE } from '../runtimes/pipelines/job-script.ts';
import type { PipelineContext, SectionMarker } from '../runtimes/pipelines/pipeline-request.ts';
import { duration } from '../runtimes/pipelines/run-log.ts';
import { rowLines, STYLE, type Style, styled, type Terminal } from './terminal.ts';

/** Lines of a collapsed section that are printed if the job ends in it. */
const MAX_FOLDED_LINES = 1_000;
/** An output line that reports a failure. */
const COMPLAINT = /\b(?:error|fail(?:ed|ure)?|fatal|exception|cannot|not found|denied|refused|panic)\b/i;
const STYLED = new RegExp(`(\u001b${STYLE.source})`);
const STATE_STYLES: Partial<Record<PipelineJob['state'], Style>> = {
  success: 'green',
  failed: 'red',
  canceled: 'yellow',
};

interface Fold {
  section: string;
  startedAtMs: number;
  /** Its first line, which is printed at once. */
  hasTitle: boolean;
  count: number;
  lines: string[];
}

/** The last command of a job, and the output line that explains its failure, or else its last line. */
interface LastCommand {
  command: string;
  line?: string;
  isOver: boolean;
}

/** Prints a run in a terminal with colors: collapsed sections without their lines, and a summary at the end. */
export class PipelineScreen implements Pick<PipelineContext, 'reportLine' | 'onSection'> {
  readonly #terminal: Pick<Terminal, 'print' | 'hasColour' | 'nowMs'>;
  readonly #folds = new Map<string, Fold>();
  /** Jobs whose next line is the title of a section. */
  readonly #titles = new Set<string>();
  readonly #commands = new Map<string, LastCommand>();

  constructor(terminal: Pick<Terminal, 'print' | 'hasColour' | 'nowMs'>) {
    this.#terminal = terminal;
  }

  readonly reportLine: PipelineContext['reportLine'] = (line, jobLine) => {
    if (!jobLine) return this.#terminal.print(line);
    const { job, text } = jobLine;
    this.#remember(job, text);
    const stamp = this.#in('dim', line.slice(0, line.length - text.length));
    const isTitle = this.#titles.delete(job);
    const fold = this.#folds.get(job);
    if (!fold) return this.#terminal.print(`${stamp}${isTitle ? this.#in('cyan', text) : this.#format(text)}`);
    if (!/^[>$]/.test(text)) {
      // It ended in the section: what failed is there.
      this.#folds.delete(job);
      for (const foldedLine of fold.lines) this.#terminal.print(foldedLine);
      return this.#terminal.print(`${stamp}${this.#format(text)}`);
    }
    if (!fold.hasTitle) {
      fold.hasTitle = true;
      return this.#terminal.print(`${stamp}${this.#in('cyan', text)}`);
    }
    fold.count += 1;
    fold.lines.push(`${stamp}${this.#format(text)}`);
    if (fold.lines.length > MAX_FOLDED_LINES) fold.lines.shift();
  };

  readonly onSection = (job: string, { section, isStart, isCollapsed }: SectionMarker): void => {
    const fold = this.#folds.get(job);
    if (!fold) {
      if (!isStart) return;
      if (!isCollapsed) this.#titles.add(job);
      else this.#folds.set(job, { section, startedAtMs: this.#terminal.nowMs(), hasTitle: false, count: 0, lines: [] });
      return;
    }
    // A section inside a collapsed one is part of it.
    if (isStart || fold.section !== section) return;
    this.#folds.delete(job);
    const took = duration(this.#terminal.nowMs() - fold.startedAtMs);
    const count = `${fold.count} ${fold.count === 1 ? 'line' : 'lines'}`;
    this.#terminal.print(this.#in('dim', `  ${job}: ${count} collapsed, ${took}`));
  };

  /** Prints the jobs with state and time, the reasons of failures, and what the run deployed. */
  summarize({ id, state, startedAtMs, finishedAtMs = startedAtMs, jobs, apps = [] }: PipelineRun): void {
    const print = (line: string) => this.#terminal.print(line);
    const rows = jobs.map(({ state, name, durationMs, tests, coverage }) => [
      state,
      name,
      durationMs === undefined ? '' : duration(durationMs),
      tests ? `${tests.total} tests, ${tests.failed} failed, ${tests.skipped} skipped` : '',
      coverage === undefined ? '' : `coverage ${coverage}%`,
    ]);
    print('');
    print(this.#in('bold', `pipeline ${state} in ${duration(finishedAtMs - startedAtMs)}`));
    for (const [at, row] of rowLines(rows).entries()) {
      const job = jobs[at];
      if (!job) continue;
      print(this.#in(job.mayFail ? 'yellow' : (STATE_STYLES[job.state] ?? 'dim'), `  ${row}`));
      const last = job.state === 'failed' ? this.#commands.get(job.name) : undefined;
      if (last) print(`    ${last.command}`);
      if (last?.line !== undefined) print(`    > ${last.line}`);
      for (const name of job.tests?.failing ?? []) print(`    failed test: ${name}`);
    }
    for (const { name, image, url, status, problem } of apps) {
      const where = [image, url].flatMap((part) => part ?? []).join(' at ');
      const end = problem ?? (status === undefined ? '' : `responded with ${status}`);
      const text = [`deployed ${name}`, where, end].filter((part) => part !== '').join(', ');
      print(this.#in(problem === undefined ? 'green' : 'red', text));
    }
    print(
      this.#in(
        'dim',
        `all output: ${SHELL_COMMAND} pipeline logs ${id}, artifacts: ${SHELL_COMMAND} pipeline artifacts ${id}`,
      ),
    );
  }

  #remember(job: string, text: string): void {
    const last = this.#commands.get(job);
    if (text === `> ${AFTER_TITLE}`) {
      if (last) last.isOver = true;
    } else if (text.startsWith('$ ')) {
      if (!last?.isOver) this.#commands.set(job, { command: text, isOver: false });
    } else if (text.startsWith('retry ')) this.#commands.delete(job);
    else if (last && !last.isOver && text.startsWith('> ')) {
      const line = stripVTControlCharacters(text.slice(2)).trim();
      if (line !== '' && !COMPLAINT.test(last.line ?? '')) last.line = line;
    }
  }

  /** A line of a job in colors; those that the job itself printed are kept. */
  #format(text: string): string {
    if (text.startsWith('$ ')) return this.#in('bold', text);
    const [, verdict] = /^finished in .+?(?: {2}(WARN|FAIL)\b.*)?$/.exec(text) ?? [];
    if (text.startsWith('finished in '))
      return this.#in(verdict === 'FAIL' ? 'red' : verdict === 'WARN' ? 'yellow' : 'green', text);
    const parts = text.split(STYLED);
    if (parts.length === 1) return stripVTControlCharacters(text);
    return `${parts.map((part, at) => (at % 2 === 1 ? part : stripVTControlCharacters(part))).join('')}\u001b[0m`;
  }

  #in(style: Style, text: string): string {
    return styled(this.#terminal, style, stripVTControlCharacters(text));
  }
}
