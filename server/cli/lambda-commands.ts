import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type InvocationView, invokeRoutes, logRoutes } from '../api/routes/logs.ts';
import type { AnswerOf } from '../api/routes/route.ts';
import { workbenchRoutes } from '../api/routes/workbench.ts';
import { reasonOf } from '../model/errors.ts';
import { UserError } from '../platform/config.ts';
import { defineCommand, flag, json, text, unless } from './command.ts';
import { ExitWith, NO } from './exit-with.ts';
import { findResource } from './find-resource.ts';
import { commandOn, platformOptions } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
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

function readEvent(written: string, terminal: Terminal): Promise<string> {
  if (written === '-') return terminal.readInput();
  return written.startsWith('@')
    ? readFile(resolve(terminal.folder, written.slice(1)), 'utf8')
    : Promise.resolve(written);
}

function* report({ durationMs, cold, outcome, logs, outbound }: InvocationView, terminal: Terminal) {
  const time = `in ${durationMs} ms${cold ? ', with a new process' : ''}`;
  yield outcome.ok ? `${styled(terminal, 'green', 'ok')} ${time}` : `${outcome.failure} ${time}: ${outcome.message}`;
  if (outcome.result !== undefined) {
    yield `result    ${typeof outcome.result === 'string' ? outcome.result : JSON.stringify(outcome.result)}`;
  }
  for (const { text } of logs) yield `log       ${text}`;
  for (const call of outbound) {
    const end = call.error ?? call.status;
    yield `outbound  ${call.method} ${call.url}: ${end} in ${call.durationMs} ms${call.afterRedirect ? ", the page after the mock CRM's redirect" : call.caughtBy ? `, caught by the mock ${call.caughtBy === 'crm' ? 'CRM' : 'mail server'}` : ''}`;
  }
}

const WAIT_S = 30;

export const logsCommand = defineCommand({
  name: 'logs',
  description: 'print the log of a lambda, container or job: the newest 1000 lines, or all lines since a time',
  arguments: [['<name>', LOGGED_ARGUMENT]],
  options: {
    follow: flag('-f, --follow', 'print new lines until interrupted'),
    since: text('--since <TIME>', 'start of the log: 90s, 15m, 2h, 1d, an ISO timestamp, or all'),
    hasErrors: unless('--no-stderr', 'omit standard error'),
    ...platformOptions,
    json: json('print each line as JSON: {at, stream, text, executionId}'),
  },
  async run({ options, terminal, connect }, named = '') {
    const client = await connect();
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
