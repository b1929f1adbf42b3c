import { z } from 'zod';

const id = z.uuid();
const time = z.iso.datetime();
const seq = z.int().min(0);
const operations = z
  .array(z.looseObject({ op: z.string(), path: z.string() }))
  .describe('RFC 6902, on the world: `/resources/{id}/...`');
const path = z.string().describe('Names from the root organization down; `/` is that itself');
const about = { id, type: z.string().describe('Type name after the prefix'), name: z.string(), path };

const commit = z.object({
  seq,
  at: time,
  cause: z.looseObject({
    actor: z.object({ id, name: z.string() }).nullable().describe('Null for the emulator itself'),
    via: z.enum(['api', 'ui', 'cli', 'seed', 'engine', 'startup', 'file']),
    requestId: z.string().optional(),
    action: z.string().optional(),
    note: z.string().optional().describe('What was brought back, such as `revert of commit 12`'),
  }),
  ops: operations,
  inverse: operations,
  resources: z.array(z.object(about)).describe('Those that it changed, as it left them'),
});

const { ops: _, inverse: __, ...briefMembers } = commit.shape;
const briefCommit = z.object({ ...briefMembers, operations: z.int().min(0).describe('How many it has') });

const snapshot = z.object({
  name: z.string(),
  seq: seq.describe('The last commit that it contains'),
  at: time.describe('When it was made'),
  sizeBytes: z.int(),
});

const storedRecord = z.looseObject({ id, type: z.string(), name: z.string(), properties: z.looseObject({}) });

const differing = z.object({ ...about, action: z.enum(['create', 'update', 'delete']) });
const totals = z.object({ create: z.int(), update: z.int(), delete: z.int() }).describe('How many of each');

/** What runs because of a change of the world (D-215). */
export const codeToRun = {
  type: z.string().describe('Word of the type, such as `lambdas`'),
  path: z.string().describe('Names from the root organization down'),
  reasons: z.array(z.string()).describe('What makes it run, such as `endpoint /acme/site/hello`'),
};

/** What time travel is sent and answers. */
export const historySchemas = {
  Commit: commit,
  CommitPage: z.object({
    commits: z.array(z.union([commit, briefCommit])),
    next: z.int().optional().describe('`before` of the next page; absent when there is none'),
    oldest: seq.describe('The first moment that one can look back to'),
    newest: seq,
  }),
  ImportedArchive: z.object({
    commit: commit.optional().describe('Absent when the world was as in the archive already, and in a dry run'),
    leads: z.int().describe('How many were not there before'),
    hidden: z.array(z.object(about)).describe('Resources whose passwords, values or credentials have to be set anew'),
    runs: z
      .array(z.object({ id: z.uuid(), ...codeToRun }))
      .optional()
      .describe('What of the code in it runs from now on'),
    resources: z.array(differing).optional().describe('In a dry run: the first of those that would be changed'),
    total: totals.optional(),
  }),
  MadeCommit: z.object({ commit: commit.optional() }),
  RestoreWish: z.object({ at: z.union([seq, z.string()]).describe('Number of a commit, or an ISO time') }),
  ResetWish: z.strictObject({
    seed: z.enum(['demo', 'empty', 'configured']).describe('`configured`: what the setting `seed` says'),
    dryRun: z.boolean().optional(),
  }),
  ResetWorld: z.object({
    resources: z.array(differing).describe('The first of those that it changes'),
    total: totals,
    commit: seq.optional().describe('Absent when nothing was to be changed, and in a dry run'),
  }),
  Snapshot: snapshot,
  SnapshotWish: z.object({ name: z.string() }),
  StoredRecord: storedRecord,
  WorldOutline: z.object({
    seq,
    total: z.int().describe('How many match'),
    resources: z.array(z.object(about)),
  }),
  WorldFile: z.looseObject({
    format: z.literal(1),
    id,
    seq: seq.describe('The last commit that it contains'),
    resources: z.record(z.string(), storedRecord),
  }),
  WorldDifference: z.object({
    from: seq,
    to: seq,
    ops: operations,
    resources: z.array(differing),
    total: totals,
  }),
};
