import { z } from 'zod';
import { CHANGE_SOURCES } from '../../model/commit.ts';
import { codeToRun, count, id, looseObject, object, strictObject, time } from '../schemas/parts.ts';
import { count as amount, choice, countOr, flag, moment, momentOrCommit, required, text, uuid } from './parameter.ts';
import { createdWithLocation, defineRoutes, json, noContent, ok, ownBody, route, SEES_ALL, stream } from './route.ts';

const seq = count;
const operation = z.object({
  op: z.string(),
  path: z.string(),
  value: z.unknown().optional(),
  from: z.string().optional(),
});
const operations = z.array(operation).describe('RFC 6902 operations on the world: `/resources/{id}/...`');
const path = z.string().describe('Names from the root organization down; `/` is the root organization');
const resource = z.object({ id, type: z.string().describe('Type name without the prefix'), name: z.string(), path });

const commit = object('Commit', {
  seq,
  at: time,
  cause: z.object({
    actor: z.object({ id, name: z.string() }).nullable().describe('null for changes by the platform'),
    via: z.enum(CHANGE_SOURCES),
    requestId: z.string().optional(),
    action: z.string().optional(),
    note: z.string().optional().describe('What was restored, for example `revert of commit 12`'),
  }),
  ops: operations,
  inverse: operations,
  resources: z.array(resource).describe('Changed resources after the change'),
  sentence: z.string().describe('What was changed, for example `root changed contact-form: timeout 5 → 10 s`'),
});
export type CommitView = z.output<typeof commit>;

const { ops: _, inverse: __, ...briefMembers } = commit.shape;
const briefCommit = z.object({ ...briefMembers, operations: count.describe('Number of operations') });
export type BriefCommit = z.output<typeof briefCommit>;

const commitPage = object('CommitPage', {
  commits: z.array(z.union([commit, briefCommit])),
  next: z.int().optional().describe('`before` for the next page; absent on the last page'),
  oldest: seq.describe('The oldest moment that can be viewed'),
  newest: seq,
});

const differing = resource.extend({ action: z.enum(['create', 'update', 'delete']) });
const totals = z
  .object({ create: z.int(), update: z.int(), delete: z.int() })
  .describe('Number of resources per action');

const difference = object('WorldDifference', {
  from: seq,
  to: seq,
  ops: operations,
  resources: z.array(differing),
  total: totals,
});
export type DifferenceView = z.output<typeof difference>;

const madeCommit = object('MadeCommit', { commit: commit.optional() });
const restoreAnswer = ok(madeCommit, 'The commit; null if the world was already in this state');
const restoreRequest = strictObject('RestoreRequest', {
  at: z
    .union([seq, z.string().min(1)], { error: 'must be a commit number or an ISO time' })
    .describe('Commit number or ISO time'),
});

const snapshot = object('Snapshot', {
  name: z.string(),
  seq: seq.describe('The last commit in the snapshot'),
  at: time.describe('Time of creation'),
  sizeBytes: z.int(),
});
export type SnapshotView = z.output<typeof snapshot>;

const storedRecord = looseObject('StoredRecord', {
  id,
  type: z.string(),
  name: z.string(),
  properties: z.looseObject({}),
});
const worldFile = looseObject('WorldFile', {
  format: z.literal(1),
  id,
  seq: seq.describe('The last commit in this state'),
  resources: z.record(z.string(), storedRecord),
});

const importedArchive = object('ImportedArchive', {
  commit: commit.optional().describe('Absent if the world was already in the state of the archive, and in a dry run'),
  leads: z.int().describe('Number of added leads'),
  hidden: z.array(resource).describe('Resources whose passwords, values or credentials you must set again'),
  runs: z.array(codeToRun.extend({ id })).optional().describe('Imported code that can run from now on'),
  resources: z.array(differing).optional().describe('In a dry run: the first resources that would change'),
  total: totals.optional(),
});
export type ImportView = z.output<typeof importedArchive>;

const RESTORES = 'All changes are one commit, which you can revert.';
const archive = z.unknown().meta({ type: 'string', format: 'binary' });
const ofResource = uuid('Only commits that changed this resource');
const brief = flag('Leave out the operations');
const at = momentOrCommit('A moment (default: now)');

export const historyRoutes = defineRoutes('History', {
  listCommits: route('get /inspect/history', 'caller', {
    summary: 'List changes of the world, newest first',
    description:
      'Users without permission to view the entire platform see only changes of resources they can view. A page can contain fewer ' +
      'commits than requested, even none; it is the last page if it has no `next`. Passwords, values of secrets and credentials ' +
      'are shown as `<hidden>`.',
    isStrict: true,
    query: {
      resource: ofResource,
      scope: uuid('Only commits of this organization, workspace or environment and everything below its current path'),
      q: text('Words in the action, source or actor, or in the path, type or id of a resource'),
      type: text('Only commits on resources of this type: plural or full name'),
      actor: text('Only commits of this user: id or name'),
      action: text('Only commits with this action', { examples: ['container.update'] }),
      via: choice('Only commits with this source', CHANGE_SOURCES),
      from: moment('Only commits at or after this time'),
      to: moment('Only commits at or before this time'),
      before: amount('`next` of the previous page', 1),
      limit: countOr(50, 'Maximum number of commits on a page', 1, 500),
      brief,
    },
    answer: ok(commitPage),
    errors: [503],
  }),
  readCommit: route('get /inspect/history/{commit_seq}', 'caller', {
    summary: 'Read a change',
    answer: ok(commit),
    errors: [503],
  }),
  revertCommit: route('post /inspect/history/{commit_seq}/revert', 'root', {
    summary: 'Revert a change',
    description:
      'Adds a commit that undoes the change, so you can revert it too. The request fails if later commits ' +
      'changed the same members or if the result would not be a valid world; `details` lists the reasons.',
    answer: ok(madeCommit),
    errors: [409],
  }),
  readWorldAt: route('get /inspect/world', SEES_ALL, {
    summary: 'Read the world at a moment',
    description:
      'A moment is a commit number or an ISO time. With `resource`, returns the stored record of that resource only. The message ' +
      'of a 404 response says where the history starts if the moment is earlier.',
    isStrict: true,
    query: { at, resource: ofResource },
    answer: stream(z.union([worldFile, storedRecord]), 'application/json'),
    errors: [404, 503],
  }),
  outlineWorldAt: route('get /inspect/world/outline', SEES_ALL, {
    summary: 'List the resources at a moment by path',
    isStrict: true,
    query: {
      at,
      q: text('Words in the path, type or id'),
      offset: countOr(0, 'Number of results to skip', 0),
      limit: countOr(200, 'Maximum number of results', 0, 1000),
    },
    answer: ok(
      object('WorldOutline', { seq, total: z.int().describe('Number of matches'), resources: z.array(resource) }),
    ),
    errors: [404, 503],
  }),
  compareMoments: route('get /inspect/diff', SEES_ALL, {
    summary: 'Compare two moments',
    description:
      'Compares all resources or one. `brief` lists the first thousand resources without operations; `total` counts all.',
    isStrict: true,
    query: {
      from: required(momentOrCommit('The earlier moment of the comparison')),
      to: momentOrCommit('The later moment of the comparison (default: now)'),
      resource: ofResource,
      brief,
    },
    answer: ok(difference),
    errors: [404, 503],
  }),
  restoreMoment: route('post /inspect/restore', 'root', {
    summary: 'Restore the entire world to a moment',
    description: RESTORES,
    body: json(restoreRequest, { at: '2026-05-01T12:00:00Z' }),
    answer: restoreAnswer,
    errors: [404, 409],
  }),
});

export const snapshotRoutes = defineRoutes('Snapshots', {
  listSnapshots: route('get /inspect/snapshots', SEES_ALL, {
    summary: 'List snapshots, oldest first',
    answer: ok(z.array(snapshot)),
    errors: [503],
  }),
  createSnapshot: route('post /inspect/snapshots', 'root', {
    summary: 'Create a snapshot of the current world',
    description: 'Names consist of lower-case letters, digits, dots, hyphens and underscores.',
    body: json(strictObject('SnapshotRequest', { name: z.string() }), { name: 'before-the-demo' }),
    answer: createdWithLocation(snapshot),
    errors: [409],
  }),
  compareSnapshot: route('get /inspect/snapshots/{snapshot_name}/diff', SEES_ALL, {
    summary: 'Compare a snapshot with the current world',
    query: { resource: ofResource, brief },
    answer: ok(difference),
    errors: [503],
  }),
  restoreSnapshot: route('post /inspect/snapshots/{snapshot_name}/restore', 'root', {
    summary: 'Restore the entire world to a snapshot',
    description: RESTORES,
    answer: restoreAnswer,
    errors: [409],
  }),
  deleteSnapshot: route('delete /inspect/snapshots/{snapshot_name}', 'root', {
    summary: 'Delete a snapshot',
    answer: noContent,
  }),
  exportArchive: route('get /inspect/archive', 'root', {
    summary: 'Export the platform as one file',
    description:
      'Returns a ZIP archive of the world, its history, captured leads and mails, and asynchronous results, with a ' +
      'manifest of SHA-256 hashes. The archive does not contain keys, tokens or certificates. Passwords, values of secrets and ' +
      "providers' credentials are replaced by `<hidden>`.",
    answer: stream(archive, 'application/zip'),
    errors: [503],
  }),
  importArchive: route('post /inspect/archive', 'root', {
    summary: 'Replace the world with an archive',
    description:
      'All changes in the world are one commit, which you can revert. Leads are added. The root organization ' +
      'and the root user keep their ids, keys and password. The platform rejects a damaged or unknown file with a reason, and nothing ' +
      'changes. With `dryRun` nothing changes; `resources` and `total` show what would change.',
    isStrict: true,
    query: { dryRun: flag('Only report what would change') },
    body: ownBody(archive, 'application/zip'),
    answer: ok(importedArchive),
  }),
});

export const resetRoutes = defineRoutes('Seeds', {
  resetWorld: route('post /inspect/reset', 'root', {
    summary: 'Reset the world to a seed',
    description:
      'Replaces the world with the contents of the seed. The root user is kept. All changes are one commit, ' +
      'which you can revert. Leads, results, keys and snapshots are kept.',
    body: json(
      strictObject('ResetRequest', {
        seed: z.enum(['demo', 'empty', 'configured']).describe('`configured` uses the value of the setting `seed`'),
        dryRun: z.boolean().optional(),
      }),
      { seed: 'demo', dryRun: true },
    ),
    answer: ok(
      object('ResetWorld', {
        resources: z.array(differing).describe('The first changed resources'),
        total: totals,
        commit: seq.optional().describe('Absent if nothing had to change, and in a dry run'),
      }),
      'The changes, or with `dryRun` the changes that would be made',
    ),
    errors: [409],
  }),
});
