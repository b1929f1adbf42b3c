import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { PipelineJob } from '../../model/pipeline-run.ts';
import { lastMatchOf } from './pattern.ts';

const MAX_NAMES = 20;
const MAX_NAME_CHARACTERS = 255;
/** A part of XML without elements, or an element that says something about a test. */
const JUNIT =
  /<!\[CDATA\[.*?(?:\]\]>|$)|<!--.*?(?:-->|$)|<(testcase|failure|error|skipped)\b((?:"[^"]*"|'[^']*'|[^>"'])*)>/gs;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** Paths of the reports of a job, in its folder. */
export interface JobReports {
  junit: readonly string[];
  cobertura: readonly string[];
}

/** The results that a job has reported. */
export async function readReports(
  { junit, cobertura }: JobReports,
  workDir: string,
): Promise<Pick<PipelineJob, 'tests' | 'coverage'>> {
  const read = (path: string) => readFile(join(workDir, path), 'utf8');
  const tests = junit.length === 0 ? undefined : testsIn(await Promise.all(junit.map(read)));
  const [report] = await Promise.all(cobertura.slice(0, 1).map(read));
  const [, rate] = /<coverage\b[^>]*\bline-rate=["']([\d.]{1,20})["']/.exec(report ?? '') ?? [];
  return { ...(tests && { tests }), ...(rate !== undefined && { coverage: percent(Number(rate) * 100) }) };
}

/** The sum of JUnit reports. */
export function testsIn(reports: readonly string[]): NonNullable<PipelineJob['tests']> {
  const tests = reports.flatMap((report) => {
    const found: { name: string; result?: string }[] = [];
    for (const [, element, attributes = ''] of report.matchAll(JUNIT)) {
      const last = found.at(-1);
      if (element === 'testcase') found.push({ name: nameIn(attributes) });
      else if (element !== undefined && last) last.result ??= element;
    }
    return found;
  });
  const skipped = tests.filter(({ result }) => result === 'skipped').length;
  const failing = tests.filter(({ result }) => result === 'failure' || result === 'error').map(({ name }) => name);
  return { total: tests.length, failed: failing.length, skipped, failing: failing.slice(0, MAX_NAMES) };
}

function nameIn(attributes: string): string {
  const [, quoted = '""'] = /(?:^|\s)name\s*=\s*("[^"]*"|'[^']*')/.exec(attributes) ?? [];
  const name = quoted.slice(1, -1).replace(/&(\w+);/g, (match, entity: string) => ENTITIES[entity] ?? match);
  return name.slice(0, MAX_NAME_CHARACTERS);
}

/**
 * Reads the keyword `coverage` in a line of output: the first number of the last match.
 *
 * @throws PipelineError for a pattern that is not valid
 */
export function coverageReader(keyword: string): (line: string) => number | undefined {
  const [, source = keyword, flags] = /^\/(.*)\/([a-z]*)$/s.exec(keyword) ?? [];
  const match = lastMatchOf(source, flags);
  return (line) => {
    const [number] = /\d+(?:\.\d+)?/.exec(match(stripVTControlCharacters(line)) ?? '') ?? [];
    return number === undefined ? undefined : percent(Number(number));
  };
}

const percent = (value: number) => Math.round(value * 100) / 100;
