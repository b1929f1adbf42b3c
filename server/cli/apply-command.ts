import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { type AppliedSeed, seedRows } from '../contract/seeds.ts';
import { changeLine, operationLine } from './change-lines.ts';
import { ExitWith } from './exit-with.ts';
import { addPlatformOptions, connect, textOption } from './instance-options.ts';
import { type PlatformClient, Refusal } from './platform-client.ts';
import { printAnswer } from './print-answer.ts';
import { runLines } from './run-lines.ts';
import { printLines, type Terminal } from './terminal.ts';

/** Name of the seed in a folder that holds one with the code of its lambdas beside it. */
const SEED_FILE = 'world.yaml';
/** A large world takes its time. */
const APPLY_TIMEOUT_MS = 600_000;

/** `terrarium apply -f FILE`: makes the world what a seed file says, and says first what that changes. */
export function addApplyCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('apply')
    .description('make the world what a seed file says; prints first what that changes')
    .requiredOption('-f, --file <FILE|DIR>', 'the seed, YAML or JSON, or the folder of one; - for standard input')
    .option('--dry-run', 'only print what would change')
    .option('--prune', 'delete what is in the organizations of the seed and not in it');
  addPlatformOptions(command).action(async () => {
    const seed = await readSeed(textOption(command, 'file') ?? '-', terminal);
    const client = await connect(command, terminal);
    const isJson = command.getOptionValue('json') === true;
    const isDry = command.getOptionValue('dryRun') === true;
    const apply = (dryRun: boolean) => send(client, seed, { dryRun, prune: command.getOptionValue('prune') === true });
    if (isDry || !isJson) {
      const plan = await apply(true);
      printAnswer(command, terminal, plan, () => printLines(planLines(plan, terminal), terminal));
      if (isDry || plan.changes.every(({ action }) => action === 'unchanged')) return;
    }
    const applied = await apply(false);
    printAnswer(command, terminal, applied, () =>
      terminal.print(applied.commit === undefined ? 'nothing was changed' : `applied as commit ${applied.commit}`),
    );
  });
}

/** A seed as it is sent. */
interface ReadSeed {
  type: string;
  content: string;
  /** Where in the file, such as `demo.yaml:12`, that is which a JSON Pointer into the seed leads to. */
  placeOf?(pointer: string): string;
}

async function readSeed(path: string, terminal: Terminal): Promise<ReadSeed> {
  // What is no JSON is YAML, and so is JSON.
  if (path === '-') return { type: 'application/yaml', content: await terminal.readInput() };
  const named = resolve(terminal.folder, path);
  const isFolder = (await stat(named).catch(() => undefined))?.isDirectory();
  const file = isFolder ? join(named, SEED_FILE) : named;
  // Loaded only now: no other command needs it.
  const { readSeedFileForApply } = await import('../emulator/seed-files.ts');
  const { document, placeOf } = await readSeedFileForApply(file);
  return { type: 'application/json', content: JSON.stringify(document), placeOf };
}

async function send(
  client: PlatformClient,
  { type, content, placeOf }: ReadSeed,
  asked: { dryRun: boolean; prune: boolean },
): Promise<AppliedSeed> {
  const query = new URLSearchParams({ dryRun: String(asked.dryRun), prune: String(asked.prune) });
  const call = { body: { type, content }, timeoutMs: APPLY_TIMEOUT_MS };
  try {
    const applied = await client.ask(seedRows.applySeed, { query, ...call });
    return { ...applied, runs: applied.runs ?? [] };
  } catch (failure) {
    if (!(failure instanceof Refusal) || !placeOf || failure.details.length === 0) throw failure;
    const sentences = failure.details.map(({ pointer, message }) => `${placeOf(pointer)}: ${message}`);
    throw new ExitWith(failure.exitCode, sentences.join('\n'));
  }
}

function* planLines({ changes, summary, runs }: AppliedSeed, terminal: Terminal): Generator<string> {
  for (const { path, type, action, patch } of changes) {
    if (action === 'unchanged') continue;
    yield changeLine(action, { type, path }, terminal);
    // Of a whole resource its name says enough.
    if (action === 'update') yield* patch.map(operationLine);
  }
  yield* runLines(runs);
  yield `${Object.entries(summary)
    .map(([action, count]) => `${count} ${action}`)
    .join(', ')}`;
}
