import {
  type CommitView,
  type DifferenceView,
  historyRoutes,
  type SnapshotView,
  snapshotRoutes,
} from '../api/routes/history.ts';
import type { AnswerOf } from '../api/routes/route.ts';
import { CHANGE_SOURCES } from '../model/commit.ts';
import { USER } from '../model/type-names.ts';
import { changeLines } from './change-lines.ts';
import { defineCommand, type Found, numberIn, type OptionSpec, text } from './command.ts';
import { commandOn, defaultCommand, platformOptions, queryOf } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { rowLines, type Terminal } from './terminal.ts';

/** Page size; the server's maximum. */
const PAGE = 500;

const filters = {
  resource: text('--resource <ID>', 'only commits that changed this resource'),
  type: text('--type <TYPE>', 'only commits that changed resources of this type, such as lambdas'),
  actor: text('--actor <NAME>', 'only commits by this user (name or ID)'),
  action: text('--action <ACTION>', 'only commits with this action, such as lambda.update'),
  via: text('--via <WAY>', `only commits with this source: ${CHANGE_SOURCES.join(', ')}`),
  from: text('--from <TIME>', 'only commits at or after this time, such as 2026-01-31T09:30:00Z'),
  to: text('--to <TIME>', 'only commits at or before this time'),
};
const limit: OptionSpec<number> = {
  flags: '--limit <N>',
  description: 'maximum number of commits',
  default: '50',
  read: numberIn('--limit', /^[1-9]\d{0,6}$/, 'a whole number from 1 to 9999999'),
};

const COMMIT = ['<seq>', 'number of the commit'] as const;
const MOMENT = ['<moment>', 'the number of a commit, or an ISO time'] as const;

export const historyCommand = defineCommand({
  name: 'history',
  description: 'show and undo changes of the world',
  commands: [
    defineCommand({
      name: 'list',
      isDefault: true,
      description: 'list commits, newest first (the default)',
      options: { ...filters, limit, ...platformOptions },
      async ask(client, { options }) {
        const commits = await readCommits(client, queryOf(options, filters), options.limit);
        return { answer: commits, lines: rowLines(commits.map(rowOf)) };
      },
    }),
    commandOn(COMMIT, 'show', 'print one commit', async (client, seq, { terminal }) => {
      const commit = await client.ask(historyRoutes.readCommit, { path: { commit_seq: seq } });
      return { answer: commit, lines: commitLines(commit, terminal) };
    }),
    defineCommand({
      name: 'diff',
      description: 'print the changes between two moments; a moment is the number of a commit or an ISO time',
      arguments: [
        ['<from>', 'the first moment'],
        ['[to]', 'the second moment, later or earlier (default: now)'],
      ],
      options: platformOptions,
      async ask(client, { terminal }, from = '', ...[to]) {
        const query = { from, ...(to !== undefined && { to }) };
        return differenceFound(await client.ask(historyRoutes.compareMoments, { query }), terminal);
      },
    }),
    commandOn(COMMIT, 'revert', 'undo one commit with a new commit', async (client, seq, { terminal }) =>
      printCommit(await client.ask(historyRoutes.revertCommit, { path: { commit_seq: seq } }), terminal),
    ),
    commandOn(
      MOMENT,
      'restore',
      'restore the world to a moment, with one new commit',
      async (client, at, { terminal }) =>
        printCommit(await client.ask(historyRoutes.restoreMoment, { json: { at } }), terminal),
    ),
  ],
});

const SNAPSHOT = ['<name>', 'name of the snapshot'] as const;

export const snapshotCommand = defineCommand({
  name: 'snapshot',
  description: 'save, compare and restore named copies of the world',
  commands: [
    defaultCommand('list', 'list snapshots, oldest first (the default)', async (client) => {
      const snapshots = await client.ask(snapshotRoutes.listSnapshots);
      return { answer: snapshots, lines: rowLines(snapshots.map(snapshotRow)) };
    }),
    commandOn(SNAPSHOT, 'save', 'save the current world', async (client, name) => {
      const saved = await client.ask(snapshotRoutes.createSnapshot, { json: { name } });
      return { answer: saved, lines: rowLines([snapshotRow(saved)]) };
    }),
    commandOn(SNAPSHOT, 'diff', 'print the changes since the snapshot', async (client, name, { terminal }) =>
      differenceFound(await client.ask(snapshotRoutes.compareSnapshot, { path: { snapshot_name: name } }), terminal),
    ),
    commandOn(
      SNAPSHOT,
      'restore',
      'restore the world from the snapshot, with one new commit',
      async (client, name, { terminal }) =>
        printCommit(await client.ask(snapshotRoutes.restoreSnapshot, { path: { snapshot_name: name } }), terminal),
    ),
    commandOn(SNAPSHOT, 'delete', 'delete the snapshot', async (client, name) => {
      await client.ask(snapshotRoutes.deleteSnapshot, { path: { snapshot_name: name } });
      return { answer: { deleted: name }, lines: [`deleted: ${name}`] };
    }),
  ],
});

function snapshotRow({ name, seq, at, sizeBytes }: SnapshotView): string[] {
  return [name, at, `as of commit ${seq}`, `${Math.ceil(sizeBytes / 1024)} KiB`];
}

async function readCommits(client: PlatformClient, query: URLSearchParams, limit: number): Promise<CommitView[]> {
  const found: CommitView[] = [];
  for (;;) {
    query.set('limit', String(Math.min(limit - found.length, PAGE)));
    const { commits, next } = await client.ask(historyRoutes.listCommits, { query });
    for (const commit of commits) if ('ops' in commit) found.push(commit);
    if (next === undefined || found.length >= limit) return found;
    query.set('before', String(next));
  }
}

function rowOf({ seq, at, cause, resources }: CommitView): string[] {
  const [first, ...more] = resources.map(({ path }) => path);
  const paths = `${first ?? '-'}${more.length > 0 ? ` and ${more.length} more` : ''}`;
  return [String(seq), at, cause.actor?.name ?? '-', cause.via, cause.note ?? cause.action ?? '-', paths];
}

function* commitLines(commit: CommitView, terminal: Terminal): Generator<string> {
  yield rowOf(commit).slice(0, -1).join('  ');
  yield* changeLines(commit, terminal);
}

function differenceFound(difference: DifferenceView, terminal: Terminal): Found {
  const isNone = difference.resources.length === 0;
  return { answer: difference, lines: isNone ? ['no difference'] : changeLines(difference, terminal) };
}

/** A line that names the users who cannot sign in since a commit, if there are any. */
function deletedAccountLines({ seq, ops, resources }: CommitView): string[] {
  const accounts = resources.filter(
    ({ type, id }) => type === USER && ops.some(({ op, path }) => op === 'remove' && path === `/resources/${id}`),
  );
  if (accounts.length === 0) return [];
  const paths = accounts.map(({ path }) => path).join(', ');
  return [`deleted accounts: ${paths}. Their users cannot sign in. To undo it: history revert ${seq}`];
}

function printCommit({ commit }: AnswerOf<typeof historyRoutes.revertCommit>, terminal: Terminal): Found {
  const lines = commit
    ? [...commitLines(commit, terminal), ...deletedAccountLines(commit)]
    : ['No changes: the world is already in this state.'];
  return { answer: { commit: commit ?? null }, lines };
}
