import { z } from 'zod';
import { VIAS } from '../model/commit.ts';
import { named } from './named.ts';
import { count as amount, choice, countOr, flag, moment, momentOrCommit, required, text, uuid } from './parameter.ts';
import { codeToRun, count, id, time } from './parts.ts';
import { SEES_ALL } from './right.ts';
import { created, gone, json, ok, ownBody, rowsOf, stream } from './row.ts';

const seq = count;
const operation = z.object({
  op: z.string(),
  path: z.string(),
  value: z.unknown().optional(),
  from: z.string().optional(),
});
const operations = z.array(operation).describe('RFC 6902, on the world: `/resources/{id}/...`');
const path = z.string().describe('Names from the root organization down; `/` is that itself');
const resource = z.object({ id, type: z.string().describe('Type name after the prefix'), name: z.string(), path });

const commit = named(
  'Commit',
  z.object({
    seq,
    at: time,
    cause: z.object({
      actor: z.object({ id, name: z.string() }).nullable().describe('Null for the emulator itself'),
      via: z.enum(VIAS),
      requestId: z.string().optional(),
      action: z.string().optional(),
      note: z.string().optional().describe('What was brought back, such as `revert of commit 12`'),
    }),
    ops: operations,
    inverse: operations,
    resources: z.array(resource).describe('Those that it changed, as it left them'),
  }),
);
export type ShownCommit = z.output<typeof commit>;

const { ops: _, inverse: __, ...briefMembers } = commit.shape;
const briefCommit = z.object({ ...briefMembers, operations: count.describe('How many it has') });
export type BriefCommit = z.output<typeof briefCommit>;

const pageMembers = {
  next: z.int().optional().describe('`before` of the next page; absent when there is none'),
  oldest: seq.describe('The first moment that one can look back to'),
  newest: seq,
};
const commitPage = named('CommitPage', z.object({ commits: z.array(z.union([commit, briefCommit])), ...pageMembers }));

const differing = resource.extend({ action: z.enum(['create', 'update', 'delete']) });
const totals = z.object({ create: z.int(), update: z.int(), delete: z.int() }).describe('How many of each');

const difference = named(
  'WorldDifference',
  z.object({ from: seq, to: seq, ops: operations, resources: z.array(differing), total: totals }),
);
export type ShownDifference = z.output<typeof difference>;

const madeCommit = named('MadeCommit', z.object({ commit: commit.optional() }));
const made = ok(madeCommit, 'The commit; none when the world is so already');
const restoreRequest = named(
  'RestoreRequest',
  z.strictObject({ at: z.union([seq, z.string().min(1)]).describe('Number of a commit, or an ISO time') }),
);

const snapshot = named(
  'Snapshot',
  z.object({
    name: z.string(),
    seq: seq.describe('The last commit that it contains'),
    at: time.describe('When it was made'),
    sizeBytes: z.int(),
  }),
);
export type ShownSnapshot = z.output<typeof snapshot>;

const storedRecord = named(
  'StoredRecord',
  z.looseObject({ id, type: z.string(), name: z.string(), properties: z.looseObject({}) }),
);
const worldFile = named(
  'WorldFile',
  z.looseObject({
    format: z.literal(1),
    id,
    seq: seq.describe('The last commit that it contains'),
    resources: z.record(z.string(), storedRecord),
  }),
);

const importedArchive = named(
  'ImportedArchive',
  z.object({
    commit: commit.optional().describe('Absent when the world was as in the archive already, and in a dry run'),
    leads: z.int().describe('How many were not there before'),
    hidden: z.array(resource).describe('Resources whose passwords, values or credentials have to be set anew'),
    runs: z.array(codeToRun.extend({ id })).optional().describe('What of the code in it runs from now on'),
    resources: z.array(differing).optional().describe('In a dry run: the first of those that would be changed'),
    total: totals.optional(),
  }),
);
export type ShownImport = z.output<typeof importedArchive>;

const RESTORES = 'For the root user. One commit holds all that changes, so it can be undone by reverting that.';
const archive = z.unknown().meta({ type: 'string', format: 'binary' });
const ofResource = uuid('Only what concerns this resource');
const brief = flag('Without operations');
const at = momentOrCommit('A moment; now unless given');

/** Time travel: the history of the world. */
export const historyRows = rowsOf('History', {
  listCommits: {
    route: 'get /inspect/history',
    summary: 'Every change of the world, newest first',
    description:
      'Whoever may not look at the whole platform is told of what they may view. A page may hold fewer commits than asked for, even none, and ' +
      'go on: it is the last one when it has no `next`. Passwords, values of secrets and credentials are `<hidden>`.',
    right: 'caller',
    isStrict: true,
    query: {
      resource: ofResource,
      scope: uuid('Only commits of this organization, workspace or environment and what is below it, by its path now'),
      q: text('Words that action, way, actor, or path, type or id of a resource hold'),
      type: text('Only commits on resources of this type: its word or full name'),
      actor: text('Only commits of this user: id or name'),
      action: text('Only this action', { examples: ['container.update'] }),
      via: choice('Only commits that came this way', VIAS),
      from: moment('Only commits of this moment or later'),
      to: moment('Only commits of this moment or earlier'),
      before: amount('`next` of the last page', 1),
      limit: countOr(50, 'Most commits on a page', 1, 500),
      brief,
    },
    answer: ok(commitPage),
    errors: [503],
  },
  readCommit: {
    route: 'get /inspect/history/{commit_seq}',
    summary: 'One change',
    right: 'caller',
    answer: ok(commit),
    errors: [400, 404, 503],
  },
  revertCommit: {
    route: 'post /inspect/history/{commit_seq}/revert',
    summary: 'Undo one change',
    description:
      'For the root user. A new commit undoes it, so it can be undone itself. Where later commits have changed the same, or ' +
      'the result would be no valid world, it is refused, and `details` point at what is in the way.',
    right: 'root',
    answer: ok(madeCommit),
    errors: [400, 404, 409, 503],
  },
  readWorldAt: {
    route: 'get /inspect/world',
    summary: 'The world as it was at a moment',
    description:
      'A moment is the number of a commit or an ISO time. With `resource` the stored record of that one. 404 says where the ' +
      'history begins when the moment is before that.',
    right: SEES_ALL,
    isStrict: true,
    query: { at, resource: ofResource },
    answer: stream(z.union([worldFile, storedRecord]), 'application/json'),
    errors: [404, 503],
  },
  outlineWorldAt: {
    route: 'get /inspect/world/outline',
    summary: 'What there was at a moment, by path',
    right: SEES_ALL,
    isStrict: true,
    query: {
      at,
      q: text('Words that path, type or id hold'),
      offset: countOr(0, 'How many to skip', 0),
      limit: countOr(200, 'How many', 0, 1000),
    },
    answer: ok(
      named('WorldOutline', z.object({ seq, total: z.int().describe('How many match'), resources: z.array(resource) })),
    ),
    errors: [404, 503],
  },
  compareMoments: {
    route: 'get /inspect/diff',
    summary: 'What leads from one moment to another',
    description:
      'Of all resources, or of one. `brief` names the first thousand resources without operations; `total` counts all.',
    right: SEES_ALL,
    isStrict: true,
    query: {
      from: required(momentOrCommit('The moment to compare with')),
      to: momentOrCommit('The moment that is compared; now unless given'),
      resource: ofResource,
      brief,
    },
    answer: ok(difference),
    errors: [404, 503],
  },
  restoreMoment: {
    route: 'post /inspect/restore',
    summary: 'Bring the whole world back to a moment',
    description: RESTORES,
    right: 'root',
    body: json(restoreRequest),
    answer: made,
    errors: [404, 409, 503],
  },
});

/** Worlds under a name, and the whole instance as one file. */
export const snapshotRows = rowsOf('Snapshots', {
  listSnapshots: {
    route: 'get /inspect/snapshots',
    summary: 'Worlds kept under a name, oldest first',
    right: SEES_ALL,
    answer: ok(z.array(snapshot)),
  },
  createSnapshot: {
    route: 'post /inspect/snapshots',
    summary: 'Keep the present world under a name',
    description: 'For the root user. Lower-case letters, digits, dots, hyphens and underscores.',
    right: 'root',
    body: json(named('SnapshotRequest', z.strictObject({ name: z.string() }))),
    answer: created(snapshot),
    errors: [409, 503],
  },
  compareSnapshot: {
    route: 'get /inspect/snapshots/{snapshot_name}/diff',
    summary: 'What leads from a snapshot to now',
    right: SEES_ALL,
    query: { resource: ofResource, brief },
    answer: ok(difference),
    errors: [404, 503],
  },
  restoreSnapshot: {
    route: 'post /inspect/snapshots/{snapshot_name}/restore',
    summary: 'Bring the whole world back to it',
    description: RESTORES,
    right: 'root',
    answer: made,
    errors: [400, 404, 409, 503],
  },
  deleteSnapshot: {
    route: 'delete /inspect/snapshots/{snapshot_name}',
    summary: 'Delete a snapshot',
    right: 'root',
    answer: gone,
    errors: [400, 404],
  },
  exportArchive: {
    route: 'get /inspect/archive',
    summary: 'The whole instance as one file',
    description:
      'For the root user. A zip of the world, its history, caught leads and asynchronous results, with a manifest of the ' +
      "SHA-256 of each. Nothing secret is in it: no keys, tokens or certificates, and `<hidden>` stands for passwords, values of secrets and providers' credentials.",
    right: 'root',
    answer: stream(archive, 'application/zip'),
    errors: [503],
  },
  importArchive: {
    route: 'post /inspect/archive',
    summary: 'Make the world what an archive says',
    description:
      'For the root user. One commit holds all that changes in the world, so it can be undone by reverting that; leads are ' +
      'added. The root organization and the root user keep their ids, keys and password. A damaged or foreign file is refused with the reason, ' +
      'and nothing is changed. With `dryRun` nothing is changed either: `resources` and `total` say what would be.',
    right: 'root',
    isStrict: true,
    query: { dryRun: flag('Only tell what would be changed') },
    body: ownBody(archive, 'application/zip'),
    answer: ok(importedArchive),
    errors: [503],
  },
});

/** Beginning anew. */
export const resetRows = rowsOf('Seeds', {
  resetWorld: {
    route: 'post /inspect/reset',
    summary: 'Begin the world anew with a seed that is there',
    description:
      'For the root user. The world becomes what a first start with the seed makes, but for the root user, who stays as he is. One ' +
      'commit holds all changes, so it can be undone by reverting that. Leads, results, keys and snapshots stay.',
    right: 'root',
    body: json(
      named(
        'ResetRequest',
        z.strictObject({
          seed: z.enum(['demo', 'empty', 'configured']).describe('`configured`: what the setting `seed` says'),
          dryRun: z.boolean().optional(),
        }),
      ),
    ),
    answer: ok(
      named(
        'ResetWorld',
        z.object({
          resources: z.array(differing).describe('The first of those that it changes'),
          total: totals,
          commit: seq.optional().describe('Absent when nothing was to be changed, and in a dry run'),
        }),
      ),
      'What was changed, or with `dryRun` would be',
    ),
    errors: [409, 503],
  },
});
