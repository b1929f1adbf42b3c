import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { UserError } from '../config.ts';
import { invokeRows, type ShownInvocation } from '../contract/logs.ts';
import { reasonOf } from '../model/reason.ts';
import { ExitWith, NO } from './exit-with.ts';
import { findLambda, LAMBDA_ARGUMENT } from './find-lambda.ts';
import { addPlatformOptions, connect, textOption } from './instance-options.ts';
import { printAnswer } from './print-answer.ts';
import { printLines, styled, type Terminal } from './terminal.ts';

/** Longer than the longest time-out of a lambda and the time it may have to wait for its turn. */
const INVOCATION_TIMEOUT_MS = 1_200_000;

/** `terrarium invoke LAMBDA`: runs a lambda with an event and shows all that came of it. */
export function addInvokeCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('invoke')
    .description('run a lambda and show its result, what it printed and whom it called; exit code 1 when it fails')
    .argument('<lambda>', LAMBDA_ARGUMENT)
    .option('--event <EVENT>', 'the event: JSON, @FILE, or - for standard input');
  addPlatformOptions(command).action(async (named: string) => {
    const text = await eventOf(textOption(command, 'event'), terminal);
    const client = await connect(command, terminal);
    const id = await findLambda(client, named);
    const body = text === undefined ? {} : { body: { type: 'application/json', content: text } };
    const call = { ...body, timeoutMs: INVOCATION_TIMEOUT_MS };
    const invocation = await client.ask(invokeRows.invokeLambda, { path: { lambda_id: id }, ...call });
    printAnswer(command, terminal, invocation, () => printLines(report(invocation, terminal), terminal));
    if (!invocation.outcome.ok) throw new ExitWith(NO);
  });
}

async function eventOf(written: string | undefined, terminal: Terminal): Promise<string | undefined> {
  if (written === undefined) return undefined;
  const text = await readEvent(written, terminal);
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new UserError(`the event is no JSON: ${reasonOf(cause)}`, { cause });
  }
  return text;
}

function readEvent(written: string, terminal: Terminal): Promise<string> {
  if (written === '-') return terminal.readInput();
  return written.startsWith('@')
    ? readFile(resolve(terminal.folder, written.slice(1)), 'utf8')
    : Promise.resolve(written);
}

function* report({ durationMs, cold, outcome, logs, outbound }: ShownInvocation, terminal: Terminal) {
  const time = `in ${durationMs} ms${cold ? ', with a new process' : ''}`;
  yield outcome.ok ? `${styled(terminal, 'green', 'ok')} ${time}` : `${outcome.failure} ${time}: ${outcome.message}`;
  if (outcome.result !== undefined) {
    yield `result    ${typeof outcome.result === 'string' ? outcome.result : JSON.stringify(outcome.result)}`;
  }
  for (const { text } of logs) yield `log       ${text}`;
  for (const call of outbound) {
    const end = call.error ?? call.status;
    yield `outbound  ${call.method} ${call.url}: ${end} in ${call.durationMs} ms${call.caughtBy ? `, caught by the ${call.caughtBy} stand-in` : ''}`;
  }
}
