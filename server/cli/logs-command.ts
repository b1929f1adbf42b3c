import type { Command } from 'commander';
import { logRows } from '../contract/logs.ts';
import { findLambda, LAMBDA_ARGUMENT } from './find-lambda.ts';
import { addPlatformOptions, connect, textOption } from './instance-options.ts';
import { printLines, type Terminal } from './terminal.ts';

/** How long one request waits for a line. */
const WAIT_S = 30;

/** `terrarium logs LAMBDA`: what a lambda printed, and with -f what it goes on to print. */
export function addLogsCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('logs')
    .description('print what a lambda printed: the newest 1000 lines, or all since a time')
    .argument('<lambda>', LAMBDA_ARGUMENT)
    .option('-f, --follow', 'go on with each new line until interrupted')
    .option('--since <TIME>', '90s, 15m, 2h, 1d, an ISO timestamp, or all')
    .option('--no-stderr', 'leave out standard error');
  addPlatformOptions(command, 'print each line as JSON: {at, stream, text, executionId}').action(
    async (named: string) => {
      const client = await connect(command, terminal);
      const id = await findLambda(client, named);
      const isFollowing = command.getOptionValue('follow') === true;
      const isJson = command.getOptionValue('json') === true;
      const query = new URLSearchParams({ stderr: String(command.getOptionValue('stderr') !== false) });
      const since = textOption(command, 'since');
      if (since !== undefined) query.set('time', since);
      do {
        const { lines, cursor, hasGap } = await client.ask(logRows.readOnInLog, { path: { resource_id: id }, query });
        if (hasGap) terminal.complain('terrarium: lines are missing here: the log does not keep them any more');
        printLines(
          lines.map((line) => (isJson ? JSON.stringify(line) : line.text)),
          terminal,
        );
        query.delete('time');
        query.set('after', cursor);
        query.set('waitS', String(WAIT_S));
      } while (isFollowing);
    },
  );
}
