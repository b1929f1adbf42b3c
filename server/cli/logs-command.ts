import { logRoutes } from '../api/routes/logs.ts';
import type { AnswerOf } from '../api/routes/route.ts';
import { workbenchRoutes } from '../api/routes/workbench.ts';
import { defineCommand, flag, json, text, unless } from './command.ts';
import { findLambda, LAMBDA_ARGUMENT } from './find-lambda.ts';
import { commandOn, platformOptions } from './instance-options.ts';
import { printLines } from './terminal.ts';

const WAIT_S = 30;

/** `terrarium logs LAMBDA`: prints a lambda's log, and with -f each new line. */
export const logsCommand = defineCommand({
  name: 'logs',
  description: 'print the log of a lambda: the newest 1000 lines, or all lines since a time',
  arguments: [['<lambda>', LAMBDA_ARGUMENT]],
  options: {
    follow: flag('-f, --follow', 'print new lines until interrupted'),
    since: text('--since <TIME>', 'start of the log: 90s, 15m, 2h, 1d, an ISO timestamp, or all'),
    hasErrors: unless('--no-stderr', 'omit standard error'),
    ...platformOptions,
    json: json('print each line as JSON: {at, stream, text, executionId}'),
  },
  async run({ options, terminal, connect }, named = '') {
    const client = await connect();
    const id = await findLambda(client, named);
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

/** `terrarium schedule LAMBDA`: prints the next periodic invocation of a lambda. */
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
