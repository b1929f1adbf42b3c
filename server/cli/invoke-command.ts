import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type InvocationView, invokeRoutes } from '../api/routes/logs.ts';
import { reasonOf } from '../model/errors.ts';
import { UserError } from '../platform/config.ts';
import { defineCommand, text } from './command.ts';
import { ExitWith, NO } from './exit-with.ts';
import { findLambda, LAMBDA_ARGUMENT } from './find-lambda.ts';
import { platformOptions } from './instance-options.ts';
import { styled, type Terminal } from './terminal.ts';

/** Longer than the longest timeout of a lambda plus its time in the queue. */
const INVOCATION_TIMEOUT_MS = 1_200_000;

/** `terrarium invoke LAMBDA`: invokes a lambda with an event and prints result, logs and outbound calls. */
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
    yield `outbound  ${call.method} ${call.url}: ${end} in ${call.durationMs} ms${call.caughtBy ? `, caught by the mock CRM` : ''}`;
  }
}
