import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type InvocationView, invokeRoutes, logRoutes } from '../api/routes/logs.ts';
import { lineListRoutes, type RecordedLine } from '../api/routes/recorded.ts';
import type { AnswerOf } from '../api/routes/route.ts';
import { workbenchRoutes } from '../api/routes/workbench.ts';
import { reasonOf } from '../model/errors.ts';
import { epochMsOf, timeOf } from '../model/iso-time.ts';
import { UserError } from '../platform/config.ts';
import { defineCommand, flag, json, text, textAs, unless } from './command.ts';
import { ExitWith, NO } from './describe-failure.ts';
import { commandOn, findResource, platformOptions } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { followChanges, localTime, outboundText } from './request-log.ts';
import { printLines, styled, type Terminal } from './terminal.ts';

const LAMBDA_ARGUMENT = 'ID, path such as /demo/website/development/contact-form, or unique name of the lambda';

const LOGGED_ARGUMENT = 'ID, path such as /demo/website/development/contact-form, or unique name of the resource';

const findLambda = (client: PlatformClient, named: string) => findResource(client, ['lambdas'], named, LAMBDA_ARGUMENT);

/** Longer than the longest timeout of a lambda plus its time in the queue. */
const INVOCATION_TIMEOUT_MS = 1_200_000;

export const invokeCommand = defineCommand({
  name: 'invoke',
  description: 'invoke a lambda and show its result, logs and outbound calls; exit code 1 if it fails',
  arguments: [['<lambda>', LAMBDA_ARGUMENT]],
  options: {
    event: text('--event <EVENT>', 'event as JSON, @FILE, or - for standard input (default: no event)'),
    ...platformOptions,
  },
  async run({ options, terminal, connect, print }, named = '') {
    const text = await eventOf(options.event, terminal);
    const client = await connect();
    const id = await findLambda(client, named);
    const body = text === undefined ? {} : { body: { type: 'application/json', content: text } };
    const call = { ...body, timeoutMs: INVOCATION_TIMEOUT_MS };
    const invocation = await client.ask(invokeRoutes.invokeLambda, { path: { lambda_id: id }, ...call });
    print(invocation, report(invocation, terminal));
    if (!invocation.outcome.ok) throw new ExitWith(NO);
  },
});

async function eventOf(written: string | undefined, terminal: Terminal): Promise<string | undefined> {
  if (written === undefined) return undefined;
  // Editors on Windows begin files with a byte order mark.
  const text = (await readEvent(written, terminal)).replace(/^\uFEFF/, '');
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new UserError(`the event is not valid JSON: ${reasonOf(cause)}`, { cause });
  }
  return text;
}

async function readEvent(written: string, terminal: Terminal): Promise<string> {
  if (written === '-') return terminal.readInput();
  if (!written.startsWith('@')) return written;
  return readFile(resolve(terminal.folder, written.slice(1)), 'utf8').catch((cause) => {
    throw new UserError(`the file of the event cannot be read: ${reasonOf(cause)}`, { cause });
  });
}

function* report({ durationMs, cold, outcome, logs, outbound }: InvocationView, terminal: Terminal) {
  const time = `in ${durationMs} ms${cold ? ', with a new process' : ''}`;
  yield outcome.ok ? `${styled(terminal, 'green', 'ok')} ${time}` : `${outcome.failure} ${time}: ${outcome.message}`;
  if (outcome.result !== undefined) {
    yield `result    ${typeof outcome.result === 'string' ? outcome.result : JSON.stringify(outcome.result)}`;
  }
  for (const { text } of logs) yield `log       ${text}`;
  for (const call of outbound) yield `outbound  ${outboundText(call)}`;
}

const WAIT_S = 30;
/** Number of lines in a page and, without a time, in the whole output. */
const MAX_LINES = 1_000;

export const logsCommand = defineCommand({
  name: 'logs',
  description:
    'print the log of a lambda, container or job, or of all lambdas: the newest 1000 lines, or all lines since a time',
  arguments: [['[name]', `${LOGGED_ARGUMENT} (default: all lambdas, with the time and the lambda of each line)`]],
  options: {
    follow: flag('-f, --follow', 'print new lines until interrupted'),
    since: textAs(
      '--since <TIME>',
      'start of the log: 90s, 15m, 2h, 1d, an ISO timestamp (local without an offset), or all',
      sinceIn,
    ),
    hasErrors: unless('--no-stderr', 'omit standard error'),
    ...platformOptions,
    json: json('print each line as JSON: {at, stream, text, executionId}, and for all lambdas {lambdaId, lambdaName}'),
  },
  async run({ options, terminal, connect }, named) {
    const client = await connect();
    if (named === undefined) {
      const printNew = logsOfAllLambdas(client, terminal, options);
      return options.follow ? followChanges(client, ['logs'], printNew) : printNew();
    }
    const id = await findResource(client, ['lambdas', 'containers', 'jobs'], named, LOGGED_ARGUMENT);
    const query = new URLSearchParams({ stderr: String(options.hasErrors) });
    if (options.since !== undefined) query.set('time', options.since);
    do {
      const { lines, cursor, hasGap } = await client.ask(logRoutes.readOnInLog, { path: { resource_id: id }, query });
      if (hasGap) terminal.complain('terrarium: older lines are missing here, because the log no longer contains them');
      printLines(
        lines.map((line) => (options.json ? JSON.stringify(line) : line.text)),
        terminal,
      );
      query.delete('time');
      query.set('after', cursor);
      query.set('waitS', String(WAIT_S));
    } while (options.follow);
  },
});

/** An ISO timestamp without an offset is in local time, as in the output. */
function sinceIn(since: string): string {
  if (/^(\d{1,9}[smhd]|all)$/.test(since)) return since;
  const time = since.replace(' ', 'T');
  if (!Number.isNaN(epochMsOf(time))) return timeOf(Date.parse(time.includes('T') ? time : `${time}T00:00`));
  throw new UserError(
    `--since is "${since}"; it must be a number with s, m, h or d such as 15m, an ISO timestamp, or all`,
  );
}

/** Returns a function that prints the recorded lines of all lambdas since its last call, oldest first. */
function logsOfAllLambdas(
  client: PlatformClient,
  terminal: Terminal,
  { since, hasErrors, json: isJson }: { since: string | undefined; hasErrors: boolean; json: boolean },
): () => Promise<void> {
  /** The position of the last printed line. */
  let after: number | undefined;
  return async () => {
    const isAll = since !== undefined || after !== undefined;
    const q = [
      ...(hasErrors ? [] : ['stream:stdout']),
      ...(since === undefined || since === 'all' || after !== undefined ? [] : [`since:${since}`]),
    ].join(' ');
    const query = new URLSearchParams({ q, limit: String(MAX_LINES), after: String(after ?? 0) });
    const newestFirst: RecordedLine[] = [];
    for (;;) {
      const { lines, newest, next } = await client.ask(lineListRoutes.listLogLines, { query });
      newestFirst.push(...lines);
      if (!query.has('before')) after = newest;
      if (next === undefined || (!isAll && newestFirst.length >= MAX_LINES)) break;
      query.set('before', String(next));
    }
    const width = Math.max(0, ...newestFirst.map(({ lambdaName }) => lambdaName.length));
    const textOf = ({ at, stream, lambdaName, text }: RecordedLine) => {
      const level = stream === 'stderr' ? styled(terminal, 'red', 'err') : 'log';
      return `${localTime(at)}  ${lambdaName.padEnd(width)}  ${level}  ${text}`;
    };
    printLines(
      newestFirst.reverse().map((line) => (isJson ? JSON.stringify({ ...line, seq: undefined }) : textOf(line))),
      terminal,
    );
  };
}

export const scheduleCommand = commandOn(
  ['<lambda>', LAMBDA_ARGUMENT],
  'schedule',
  'print the next and last periodic invocation of a lambda (from its periodic_info)',
  async (client, named) => {
    const id = await findLambda(client, named);
    const { schedule } = await client.ask(workbenchRoutes.readWorkbench, { path: { lambda_id: id } });
    return { answer: schedule ?? {}, lines: scheduleLines(schedule) };
  },
);

function scheduleLines(schedule: AnswerOf<typeof workbenchRoutes.readWorkbench>['schedule']): string[] {
  if (!schedule)
    return ['the lambda has no periodic_info with cron or interval_seconds, so it is not invoked periodically'];
  const { nextAt, lastAt, leftOut } = schedule;
  return [
    `next  ${nextAt ?? 'never: start the platform with --lambdas-periodic'}`,
    ...(lastAt === undefined ? [] : [`last  ${lastAt}`]),
    ...(leftOut === 0 ? [] : [`skipped ${leftOut}, because the previous invocation was still running`]),
  ];
}
