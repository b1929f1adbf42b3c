import { resolve } from 'node:path';
import { type AppliedSeed, seedRoutes } from '../api/routes/seeds.ts';
import { changeLine, operationLine, runLines } from './change-lines.ts';
import { defineCommand, flag, textOr } from './command.ts';
import { ExitWith } from './describe-failure.ts';
import { platformOptions } from './instance-options.ts';
import { type PlatformClient, Refusal } from './platform-client.ts';
import type { Terminal } from './terminal.ts';

const APPLY_TIMEOUT_MS = 600_000;

export const applyCommand = defineCommand({
  name: 'apply',
  description: 'apply a seed file to the world; prints the changes first',
  options: {
    file: textOr('-f, --file <FILE|DIR>', 'seed file (YAML or JSON) or folder with a world.yaml; - for standard input'),
    dryRun: flag('--dry-run', 'only print what would change'),
    prune: flag('--prune', "delete resources of the seed's organizations that the seed does not contain"),
    ...platformOptions,
  },
  async run({ options: { file, dryRun: isDry, prune, json: isJson }, terminal, connect, print }) {
    const seed = await readSeed(file, terminal);
    const client = await connect();
    const apply = (dryRun: boolean) => sendSeed(client, seed, { dryRun, prune });
    if (isDry || !isJson) {
      const plan = await apply(true);
      print(plan, planLines(plan, terminal));
      if (isDry || !hasChanges(plan)) return;
    }
    const applied = await apply(false);
    print(applied, [applied.commit === undefined ? 'no changes to resources' : `applied as commit ${applied.commit}`]);
  },
});

export interface ReadSeed {
  type: string;
  content: string;
  /** The place in the file, such as `demo.yaml:12`, of a JSON Pointer into the seed. */
  placeOf?(pointer: string): string;
}

async function readSeed(path: string, terminal: Terminal): Promise<ReadSeed> {
  // JSON is valid YAML, too.
  if (path === '-') return { type: 'application/yaml', content: await terminal.readInput() };
  return readSeedFile(resolve(terminal.folder, path), terminal.env);
}

/** Reads a world file, or the one in a folder, with the files and variables that it names. Throws SeedError. */
export async function readSeedFile(file: string, env: Terminal['env']): Promise<ReadSeed> {
  // Loaded only now: no other command needs it.
  const { readSeedFileForApply } = await import('../platform/seed-files.ts');
  const { document, placeOf } = await readSeedFileForApply(file, env);
  return { type: 'application/json', content: JSON.stringify(document), placeOf };
}

/** Applies a seed, or plans it. Throws ExitWith with the lines of what cannot be applied. */
export async function sendSeed(
  client: PlatformClient,
  { type, content, placeOf }: ReadSeed,
  options: { dryRun: boolean; prune: boolean },
): Promise<AppliedSeed> {
  const query = new URLSearchParams({ dryRun: String(options.dryRun), prune: String(options.prune) });
  const call = { body: { type, content }, timeoutMs: APPLY_TIMEOUT_MS };
  try {
    const applied = await client.ask(seedRoutes.applySeed, { query, ...call });
    return { ...applied, runs: applied.runs ?? [] };
  } catch (failure) {
    if (!(failure instanceof Refusal) || !placeOf || failure.details.length === 0) throw failure;
    const sentences = failure.details.map(({ pointer, message }) =>
      [placeOf(pointer), pointer, message].filter(Boolean).join(': '),
    );
    throw new ExitWith(failure.exitCode, sentences.join('\n'), failure);
  }
}

export function hasChanges({ changes, outbound }: AppliedSeed): boolean {
  return outbound !== undefined || changes.some(({ action }) => action !== 'unchanged');
}

export function* planLines({ changes, summary, runs, outbound }: AppliedSeed, terminal: Terminal): Generator<string> {
  for (const { path, type, action, patch } of changes) {
    if (action === 'unchanged') continue;
    yield changeLine(action, { type, path }, terminal);
    if (action === 'update') yield* patch.map(operationLine);
  }
  yield* runLines(runs);
  if (outbound) yield `outbound rules: ${outbound.join(', ') || 'none'}`;
  yield `${Object.entries(summary)
    .map(([action, count]) => `${count} ${action}`)
    .join(', ')}`;
}
