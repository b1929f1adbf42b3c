import type { Command } from 'commander';
import type { AnswerOf } from '../contract/row.ts';
import { workbenchRows } from '../contract/workbench.ts';
import { findLambda, LAMBDA_ARGUMENT } from './find-lambda.ts';
import { askPlatform } from './instance-options.ts';
import type { Terminal } from './terminal.ts';

/** `terrarium schedule LAMBDA`: when a lambda runs next by the clock. */
export function addScheduleCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('schedule')
    .description('say when a lambda runs next by the clock, as its periodic_info says')
    .argument('<lambda>', LAMBDA_ARGUMENT);
  askPlatform(command, terminal, async (client, named: string) => {
    const id = await findLambda(client, named);
    const { schedule } = await client.ask(workbenchRows.readWorkbench, { path: { lambda_id: id } });
    return { answer: schedule ?? {}, lines: report(schedule) };
  });
}

function report(schedule: AnswerOf<typeof workbenchRows.readWorkbench>['schedule']): string[] {
  if (!schedule) return ['the lambda has no periodic_info with cron or interval_seconds: nothing runs it by the clock'];
  const { nextAt, lastAt, leftOut } = schedule;
  return [
    `next  ${nextAt ?? 'never: start the platform with --lambdas-periodic'}`,
    ...(lastAt === undefined ? [] : [`last  ${lastAt}`]),
    ...(leftOut === 0 ? [] : [`left out ${leftOut}, each because the run before was under way`]),
  ];
}
