import type { Command } from 'commander';
import { UserError } from '../config.ts';
import { historyRows, type ShownCommit, type ShownDifference } from '../contract/history.ts';
import type { AnswerOf } from '../contract/row.ts';
import { VIAS } from '../model/commit.ts';
import { changeLines } from './change-lines.ts';
import { addPlatformOptions, askPlatform, connect, type Found, queryOf, textOption } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { printAnswer } from './print-answer.ts';
import { printLines, rowLines, type Terminal } from './terminal.ts';

/** Most commits of one request; the server gives no more. */
const PAGE = 500;

const FILTERS = ['resource', 'type', 'actor', 'action', 'via', 'from', 'to'] as const;

/** `terrarium history`: what changed in the world, and what brings it back. */
export function addHistoryCommand(program: Command, terminal: Terminal): void {
  const history = program.command('history').description('show every change of the world, and undo it');
  addListCommand(history, terminal);

  const show = history.command('show').description('print one commit').argument('<seq>', 'its number');
  askPlatform(show, terminal, async (client, seq: string) => {
    const commit = await client.ask(historyRows.readCommit, { path: { commit_seq: seq } });
    return { answer: commit, lines: commitLines(commit, terminal) };
  });

  const diff = history
    .command('diff')
    .description('print what leads from one moment to another; a moment is the number of a commit or an ISO time')
    .argument('<from>', 'a moment')
    .argument('[to]', 'a later one, or an earlier one; now unless given');
  askPlatform(diff, terminal, async (client, from: string, to?: string) => {
    const query = { from, ...(to !== undefined && { to }) };
    return differenceFound(await client.ask(historyRows.compareMoments, { query }), terminal);
  });

  const revert = history.command('revert').description('undo one commit, by a new one').argument('<seq>', 'its number');
  askPlatform(revert, terminal, async (client, seq: string) =>
    commitMade(await client.ask(historyRows.revertCommit, { path: { commit_seq: seq } }), terminal),
  );

  const restore = history
    .command('restore')
    .description('make the world what it was, by one commit')
    .argument('<moment>', 'the number of a commit, or an ISO time');
  askPlatform(restore, terminal, async (client, moment: string) =>
    commitMade(await client.ask(historyRows.restoreMoment, { json: { at: moment } }), terminal),
  );
}

function addListCommand(history: Command, terminal: Terminal): void {
  const list = history
    .command('list', { isDefault: true })
    .description('list commits, newest first (the default)')
    .option('--resource <ID>', 'only of this resource')
    .option('--type <TYPE>', 'only of resources of this type, such as lambdas')
    .option('--actor <NAME>', 'only by this user, by name or id')
    .option('--action <ACTION>', 'only for this action, such as lambda.update')
    .option('--via <WAY>', `only through ${VIAS.join(', ')}`)
    .option('--from <TIME>', 'only of this moment or later, such as 2026-01-31T09:30:00Z')
    .option('--to <TIME>', 'only of this moment or earlier')
    .option('--limit <N>', 'how many at most', '50');
  addPlatformOptions(list).action(async () => {
    const limit = countOf(textOption(list, 'limit'));
    const commits = await readCommits(await connect(list, terminal), queryOf(list, FILTERS), limit);
    printAnswer(list, terminal, commits, () => printLines(rowLines(commits.map(rowOf)), terminal));
  });
}

/** Commits newest first, from as many pages as it takes. */
async function readCommits(client: PlatformClient, query: URLSearchParams, limit: number): Promise<ShownCommit[]> {
  const found: ShownCommit[] = [];
  for (;;) {
    query.set('limit', String(Math.min(limit - found.length, PAGE)));
    const { commits, next } = await client.ask(historyRows.listCommits, { query });
    for (const commit of commits) if ('ops' in commit) found.push(commit);
    if (next === undefined || found.length >= limit) return found;
    query.set('before', String(next));
  }
}

function rowOf({ seq, at, cause, resources }: ShownCommit): string[] {
  const [first, ...more] = resources.map(({ path }) => path);
  const places = `${first ?? '-'}${more.length > 0 ? ` and ${more.length} more` : ''}`;
  return [String(seq), at, cause.actor?.name ?? '-', cause.via, cause.note ?? cause.action ?? '-', places];
}

function* commitLines(commit: ShownCommit, terminal: Terminal): Generator<string> {
  yield rowOf(commit).slice(0, -1).join('  ');
  yield* changeLines(commit, terminal);
}

/** What leads from one world to another. */
export function differenceFound(difference: ShownDifference, terminal: Terminal): Found {
  const isNone = difference.resources.length === 0;
  return { answer: difference, lines: isNone ? ['no difference'] : changeLines(difference, terminal) };
}

/** The commit that was made, if there was something to do. */
export function commitMade({ commit }: AnswerOf<typeof historyRows.revertCommit>, terminal: Terminal): Found {
  const lines = commit ? commitLines(commit, terminal) : ['nothing was changed: the world is so already'];
  return { answer: { commit: commit ?? null }, lines };
}

function countOf(written = ''): number {
  if (/^[1-9]\d{0,6}$/.test(written)) return Number(written);
  throw new UserError(`--limit is "${written}"; it has to be a whole number of at least 1`);
}
